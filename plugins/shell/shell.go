// Package shell scaffolds operators whose logic is hooks: scripts that the engine
// github.com/flant/shell-operator runs when objects change.
package shell

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/render"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/templates"
	"go.yaml.in/yaml/v3"
)

// Key is the plugin's name, as PROJECT's layout holds it.
const Key = "shell.operon.dev/v1"

// The languages of hooks.
const (
	Bash   = "bash"
	Python = "python"
)

// Languages are all of them.
var Languages = []string{Bash, Python}

// Plugin is the shell plugin.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "operators as hooks in bash or Python, run by shell-operator" }

// Options implements plugin.Plugin. For a CreateHook event the command adds the
// values of its own flags, by their names, and the name as "hook"; for a Generate
// event "path", which is PATH.
func (Plugin) Options() []plugin.Option {
	return []plugin.Option{
		{Name: "lang", Default: Bash, Values: Languages, Events: []plugin.Kind{plugin.Init}, Usage: "language of hooks: bash or python"},
		{Name: "lang", Default: "", Values: Languages, Events: []plugin.Kind{plugin.CreateHook},
			Usage: "language of the hook: bash or python (default: that of the project)"},
	}
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	switch e.Kind {
	case plugin.Init:
		return initProject(e, p)
	case plugin.CreateHook:
		return createHook(e, p)
	case plugin.CreateAPI:
		return createAPI(e, p)
	case plugin.CreateWebhook:
		return fault.Usage("use operon create hook NAME with --validate, --mutate or --convert", "the webhooks of this project are hooks")
	case plugin.Generate:
		return generate(ctx, e, p)
	}
	return nil
}

// values is what the templates of shell/init and shell/webhook print.
type values struct {
	Project *project.Config
	Name    string // the project's name, as a scalar
	Lang    string
	Python  bool // some hook is in Python
	Pins    struct{ ShellOperator string }
}

func data(c *project.Config, r record) values {
	v := values{Project: c, Name: scalar(c.ProjectName), Lang: r.Lang}
	v.Python = slices.Contains(r.languages(), Python)
	v.Pins.ShellOperator = pins.ShellOperator
	return v
}

// initProject plans what a project has before its first hook, and the hooks that
// PROJECT records.
func initProject(e plugin.Event, p *scaffold.Plan) error {
	if e.Project.Namespaced {
		return fault.Usage("leave it out: hooks say themselves which namespaces they watch, and get no other permissions",
			"--namespaced is for managers in Go")
	}
	if len(e.Project.Layout) > 1 && slices.ContainsFunc(e.Project.Layout, func(key string) bool { return strings.HasPrefix(key, "go.") }) {
		return fault.Usage("give one of them", "--plugins: a project is either of Go or of hooks")
	}
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	switch lang := e.String("lang"); {
	case r.Lang == "" && lang == "":
		r.Lang = Bash
	case r.Lang == "":
		r.Lang = lang
	case lang != "" && lang != r.Lang:
		return fault.Usage("leave the flag out, or start in an empty folder", "already initialised with --lang %s", r.Lang)
	}
	if err := checkLanguage(r.Lang); err != nil {
		return err
	}
	r.save(e.Project)
	e.Project.MultiGroup = true // no types of Go keep a second group out
	if err := render.Tree(templates.FS, "shell/init", nil, data(e.Project, r), initSink(p)); err != nil {
		return err
	}
	if err := firstRoles(p); err != nil {
		return err
	}
	if err := library(r.Lang, p); err != nil {
		return err
	}
	for _, h := range r.Hooks {
		if err := planHook(e.Project, r, h, p); err != nil {
			return err
		}
	}
	return nil
}

func checkLanguage(lang string) error {
	if slices.Contains(Languages, lang) {
		return nil
	}
	return fault.Usage("valid: "+strings.Join(Languages, ", "), "unknown --lang %q", lang)
}

// earlier are files that a repository often has before there is an operator in
// it. They say what is the user's to say, so they are no conflict.
var earlier = []string{"README.md", ".dockerignore", ".gitignore"}

// initSink shares what several commands add to, and keeps what the repository
// brought along. All else is the user's once it is written.
func initSink(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		switch {
		case path.Base(name) == "kustomization.yaml":
			return p.Share(name, mode, content)
		case slices.Contains(earlier, name) && p.Exists(name) && !p.HasBase(name):
			if !p.Exists(project.File) {
				p.Warn(scaffold.Warning{File: name, Rule: "kept", Message: "it was here before and stays as it is"})
			}
			return nil
		}
		return p.Seed(name, mode, content)
	}
}

// library plans what hooks of a language share.
func library(lang string, p *scaffold.Plan) error {
	return render.Tree(templates.FS, "shell/"+lang, nil, nil, p.Seed)
}

// scalar writes s as a YAML scalar on one line that reads back as text.
func scalar(s string) string {
	b, err := yaml.Marshal(s)
	if text := strings.TrimSuffix(string(b), "\n"); err == nil && !strings.Contains(text, "\n") {
		return text
	}
	return quoted(s)
}
