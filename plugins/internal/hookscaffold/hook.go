// Package hookscaffold writes hooks from what `operon create hook` is told: their bindings,
// the configuration that says them, a function for each, and a test for that. It
// knows what shell-operator and addon-operator have in common; where a hook lies in
// a project, and what else it needs there, their plugins know.
package hookscaffold

import (
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Hook is a hook as it was asked for, and as PROJECT records it.
type Hook struct {
	Name       string         `json:"name"`
	Lang       string         `json:"lang"`
	Startup    *int           `json:"startup,omitempty"` // the order of onStartup
	Steps      map[string]int `json:"steps,omitempty"`   // of addon-operator's work: the orders, by binding
	Kubernetes []Objects      `json:"kubernetes,omitempty"`
	Schedule   []Schedule     `json:"schedule,omitempty"`
	Validate   []Admission    `json:"validate,omitempty"`
	Mutate     []Admission    `json:"mutate,omitempty"`
	Convert    []Conversion   `json:"convert,omitempty"`
}

// Kind is a kind as an API server names it.
type Kind struct {
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Resource      string `json:"resource"` // the plural
	ClusterScoped bool   `json:"clusterScoped,omitempty"`
}

// Objects is a binding to objects of one kind.
type Objects struct {
	Name          string `json:"name"`
	Kind          `json:",inline"`
	Namespaces    []string `json:"namespaces,omitempty"`
	Names         []string `json:"names,omitempty"`
	Selector      string   `json:"selector,omitempty"`      // as kubectl takes it
	FieldSelector string   `json:"fieldSelector,omitempty"` // as kubectl takes it
	JQ            string   `json:"jq,omitempty"`
	Events        []string `json:"events,omitempty"` // none: all; the word none: a snapshot only
	Group         string   `json:"group,omitempty"`
	Queue         string   `json:"queue,omitempty"`
}

// Schedule is a binding to the clock.
type Schedule struct {
	Name    string `json:"name"`
	Crontab string `json:"crontab"`
	Group   string `json:"group,omitempty"`
	Queue   string `json:"queue,omitempty"`
}

// Admission is a binding to requests to create and update objects of a kind.
type Admission struct {
	Name string `json:"name"`
	Kind `json:",inline"`
}

// Conversion is a binding to requests to convert objects of a CRD.
type Conversion struct {
	Name  string `json:"name"`
	CRD   string `json:"crd"`
	Group string `json:"group"` // of the API
	Kind  string `json:"kind"`
	Steps []Step `json:"steps"`
	Scope string `json:"scope"` // Namespaced or Cluster
}

// Step is a conversion from one version to another.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// The languages of hooks.
const (
	Bash   = "bash"
	Python = "python"
)

var languages = []string{Bash, Python}

// LangOptions are the flags that choose the language of hooks.
func LangOptions() []plugin.Option {
	return []plugin.Option{
		{Name: "lang", Default: Bash, Values: languages, Events: []plugin.EventType{plugin.Init}, Usage: "language of hooks: bash or python"},
		{Name: "lang", Default: "", Values: languages, Events: []plugin.EventType{plugin.CreateHook},
			Usage: "language of the hook: bash or python (default: that of the project)"},
	}
}

// ProjectLang is the language of hooks that say nothing else: what PROJECT records,
// or what the init event e asks for.
func ProjectLang(recorded string, e plugin.Event) (string, error) {
	lang := e.String("lang")
	switch {
	case recorded == "" && lang == "":
		return Bash, nil
	case recorded == "":
		return lang, checkLang(lang)
	case lang != "" && lang != recorded:
		return "", fault.Usage("leave the flag out, or start in an empty folder", "already initialised with --lang %s", recorded)
	}
	return recorded, checkLang(recorded)
}

func checkLang(lang string) error {
	if slices.Contains(languages, lang) {
		return nil
	}
	return fault.Usage("valid: bash, python", "unknown --lang %q", lang)
}

// libraries are what hooks of a language share.
var libraries = map[string]string{Bash: "shell/bash/hooks/lib/shell_lib.sh", Python: "shell/python/hooks/lib/operon.py"}

// Library plans what hooks of a language share, in a folder.
func Library(lang, dir string, p *scaffold.Plan) error {
	content, err := fs.ReadFile(templates.FS, libraries[lang])
	if err != nil {
		return err
	}
	return p.Seed(path.Join(dir, path.Base(libraries[lang])), 0o644, content)
}

// CheckReplace refuses to put a hook in the place of the recorded one of its name, whose
// script is old, unless that is gone or the plan replaces it by force.
func CheckReplace(name, old, next string, p *scaffold.Plan) error {
	hint := "edit " + old + ", choose another name, or start anew with --force"
	switch {
	case !p.Exists(old) || p.Forced() && old == next:
		return nil
	case p.Forced():
		hint = "delete " + old + " first, or choose another name"
	}
	return fault.Usage(hint, "the hook %s exists with other bindings", name)
}

// Place is where a hook belongs in a project.
type Place struct {
	Owner   config.Owner
	File    string // without its extension
	Test    string // the file of its tests
	Folder  string // that the engine calls the hook from, or ""
	Library string // the folder of the library, from that of the hook
	CRDs    string // the folder of the project's CRDs
	Values  string // the key of the values that addon-operator gives it; "" for shell-operator
}

// Path is the path of the hook in the project.
func (h Hook) Path(at Place) string {
	return at.File + map[string]string{Bash: ".sh", Python: ".py"}[h.Lang]
}

// Plan plans the hook and its tests.
func (h Hook) Plan(at Place, p *scaffold.Plan) error {
	text, err := h.Config(at.Owner)
	if err != nil {
		return err
	}
	file := h.Path(at)
	known, seed := schemas{}, render.Sink(p.Seed)
	if len(h.Convert) > 0 {
		if known, err = knownSchemas(p, at.CRDs); err != nil {
			return err
		}
		if !p.HasBase(file) {
			h.warnLostFields(file, known, p)
		}
		seed = SeedOnce(p)
	}
	data := struct {
		Place
		Config   string
		Handlers []handler
	}{at, text, h.handlers(known)}
	if err := render.Tree(templates.FS, "hook/"+h.Lang, map[string]string{"file": file}, data, seed); err != nil {
		return err
	}
	tests, err := h.tests(at, known)
	if err != nil {
		return err
	}
	return seed(at.Test, 0o644, tests)
}

// HookOptions are the flags of `operon create hook` that describe the hook.
func HookOptions() []plugin.Option {
	events := []plugin.EventType{plugin.CreateHook}
	var options []plugin.Option
	for _, list := range []struct{ name, usage string }{
		{"on", "run for objects, of `kubernetes:KIND`[,KIND...]; a kind may be NAME:KIND, and KIND any name of it, GROUP/VERSION/KIND, or as in deployments.apps"},
		{"schedule", "run at the times of a `CRONTAB`, such as '*/5 * * * *' or @hourly, or NAME:CRONTAB"},
		{"validate", "run before the API server stores an object of a `KIND`, to refuse it"},
		{"mutate", "run before that, to change an object of a `KIND`"},
		{"convert", "convert the objects of --crd between versions, `FROM:TO`"},
		{"namespace", "only objects of the namespaces `[BINDING:]NAME[,NAME...]`"},
		{"name", "only the objects of the names `[BINDING:]NAME[,NAME...]`"},
		{"selector", "only objects with labels, a `[BINDING:]SELECTOR` as for kubectl"},
		{"field-selector", "only objects with fields, a `[BINDING:]SELECTOR` as for kubectl"},
		{"jq", "tell the hook what this `[BINDING:]FILTER` of jq makes of an object, and run it when that changes"},
		{"events", "run for `[BINDING:]EVENTS`: Added, Modified, Deleted; or none, for a snapshot that other bindings look at"},
		{"group", "bindings with the same `[BINDING:]NAME` run the hook together, with the snapshots of all"},
		{"queue", "a queue of its own, `[BINDING:]NAME`, which does not wait for other hooks"},
	} {
		options = append(options, plugin.Option{Name: list.name, Default: []string{}, Verbatim: true, Usage: list.usage, Events: events})
	}
	return append(options,
		plugin.Option{Name: "startup", Default: "", Usage: "run when the engine starts; the hook with the lower `ORDER` comes first", Events: events},
		plugin.Option{Name: "crd", Default: "", Usage: "the CRD that --convert is for, by its name or `KIND` (default: the one with several versions)", Events: events},
	)
}
