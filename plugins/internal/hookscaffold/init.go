package hookscaffold

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// The languages of hooks.
const (
	Bash   = "bash"
	Python = "python"
)

var languages = []string{Bash, Python}

// LangOptions returns the flags that select the language of hooks.
func LangOptions() []plugin.Option {
	return []plugin.Option{
		{Name: "lang", Default: Bash, Values: languages, Events: []plugin.EventType{plugin.Init}, Usage: "language of hooks: bash or python"},
		{Name: "lang", Default: "", Values: languages, Events: []plugin.EventType{plugin.CreateHook},
			Usage: "language of the hook: bash or python (default: the language of the project)"},
	}
}

// ProjectLang returns the default language of hooks: the recorded one, or the option of the
// init event e.
func ProjectLang(recorded string, e plugin.Event) (string, error) {
	lang := e.String("lang")
	switch {
	case recorded == "" && lang == "":
		return Bash, nil
	case recorded == "":
		return lang, checkLang(lang)
	case lang != "" && lang != recorded:
		return "", fault.Usage("leave the flag out, or start in an empty folder", "already initialized with --lang %s", recorded)
	}
	return recorded, checkLang(recorded)
}

// CheckLang validates the recorded default language, which older projects lack.
func CheckLang(recorded string) error {
	if recorded == "" || slices.Contains(languages, recorded) {
		return nil
	}
	return fault.Usage("valid values: "+strings.Join(languages, ", "), "unknown lang %q", recorded)
}

func checkLang(lang string) error {
	if slices.Contains(languages, lang) {
		return nil
	}
	return fault.Usage("valid values: bash, python", "unknown --lang %q", lang)
}

// libraries maps each language to the library of its hooks.
var libraries = map[string]string{Bash: "shell/bash/hooks/lib/shell_lib.sh", Python: "shell/python/hooks/lib/operon.py"}

// PlanLibrary plans the library of a language in a folder.
func PlanLibrary(lang, dir string, p *scaffold.Plan) error {
	content, err := fs.ReadFile(p.Templates(templates.FS), libraries[lang])
	if err != nil {
		return err
	}
	return p.Seed(path.Join(dir, path.Base(libraries[lang])), 0o644, content)
}

// CheckInit rejects --namespaced, which hooks do not support for the given reason.
func CheckInit(c *project.Config, reason string) error {
	if c.Namespaced {
		return fault.Usage("omit it: "+reason, "--namespaced is for managers in Go")
	}
	return nil
}

// InitSink is a sink for the files of a new project. It shares kustomizations and the files
// named in shared, because later commands edit them. It keeps existing files of the
// repository.
func InitSink(p *scaffold.Plan, shared ...string) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if path.Base(name) == "kustomization.yaml" || slices.Contains(shared, name) {
			return p.Share(name, mode, content)
		}
		return plugin.SeedInitFile(p, name, mode, content)
	}
}
