// Package hookscaffold writes hooks from the options of `operon create hook`: the
// configuration with the bindings, a function for each binding, and tests. It contains
// what shell-operator and addon-operator have in common. Their plugins decide where a
// hook belongs in a project, and which other files it needs.
package hookscaffold

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Hook is a requested hook. PROJECT records it in this form.
type Hook struct {
	Name       string         `json:"name"`
	Lang       string         `json:"lang"`
	Startup    *int           `json:"startup,omitempty"` // the order of onStartup
	Steps      map[string]int `json:"steps,omitempty"`   // addon-operator's module and global bindings, with their order
	Kubernetes []Objects      `json:"kubernetes,omitempty"`
	Schedule   []Schedule     `json:"schedule,omitempty"`
	Validate   []Admission    `json:"validate,omitempty"`
	Mutate     []Admission    `json:"mutate,omitempty"`
	Convert    []Conversion   `json:"convert,omitempty"`
}

// Kind is a kind of the Kubernetes API.
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
	Selector      string   `json:"selector,omitempty"`      // in kubectl's syntax
	FieldSelector string   `json:"fieldSelector,omitempty"` // in kubectl's syntax
	JQ            string   `json:"jq,omitempty"`
	Events        []string `json:"events,omitempty"` // empty: all; "none": snapshot only
	Group         string   `json:"group,omitempty"`
	Queue         string   `json:"queue,omitempty"`
}

// Schedule is a binding that runs the hook at the times of a crontab.
type Schedule struct {
	Name    string `json:"name"`
	Crontab string `json:"crontab"`
	Group   string `json:"group,omitempty"`
	Queue   string `json:"queue,omitempty"`
}

// Admission is a binding to requests to create, update or delete objects of a kind.
type Admission struct {
	Name       string `json:"name"`
	Kind       `json:",inline"`
	Operations []string `json:"operations,omitempty"` // empty: CREATE and UPDATE
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

// Check validates what becomes part of paths and code. PROJECT, which records the hook, can be
// edited by hand.
func (h Hook) Check() error {
	if h.Name == "" {
		return fault.Usage("add name to the hook, or remove the hook", "a hook has no name")
	}
	if err := project.CheckHookName(h.Name); err != nil {
		return err
	}
	if !slices.Contains(languages, h.Lang) {
		return fault.Usage("valid values: "+strings.Join(languages, ", "), "unknown lang %q of the hook %s", h.Lang, h.Name)
	}
	type binding struct {
		name string
		Kind
	}
	var all []binding
	for _, o := range h.Kubernetes {
		all = append(all, binding{o.Name, o.Kind})
	}
	for _, s := range h.Schedule {
		all = append(all, binding{name: s.Name})
	}
	for _, a := range slices.Concat(h.Validate, h.Mutate) {
		all = append(all, binding{"", a.Kind})
	}
	for _, b := range all {
		switch {
		case b.name != "" && !bindingName().MatchString(b.name):
			return fault.Usage("use lower-case letters, digits, '_' and '-'", "binding name %q of the hook %s is not valid", b.name, h.Name)
		case b.Kind.Kind != "" && !kindName().MatchString(b.Kind.Kind):
			return fault.Usage("write it as in kind: ConfigMap", "kind %q of the hook %s is not valid", b.Kind.Kind, h.Name)
		}
	}
	return nil
}

// kindName matches the name of a kind. In lower case, it is a DNS label.
var kindName = lazyregexp.New(`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`)

// CheckReplace rejects a hook that would replace the recorded hook of the same name. old is
// the script of the recorded hook. Replacing it is allowed if the script was deleted, or with
// --force.
func CheckReplace(name, old, next string, p *scaffold.Plan) error {
	switch {
	case !p.Exists(old) || p.Forced() && old == next:
		return nil
	case old != next:
		return fault.Usage("delete "+old+" first, or choose another name", "the hook %s exists as %s", name, old)
	}
	return fault.Usage("edit "+old+", choose another name, or replace it with --force", "the hook %s exists with other bindings", name)
}

// Place describes where a hook belongs in a project.
type Place struct {
	Owner   config.Owner
	File    string // path without extension
	Test    string // the file of its tests
	Folder  string // working folder in which the engine calls the hook, or ""
	Library string // the folder of the library
	CRDs    string // the folder of the project's CRDs
	Values  string // key of the module's values; "" for shell-operator
}

// Path returns the path of the hook in the project.
func (h Hook) Path(at Place) string {
	return at.File + map[string]string{Bash: ".sh", Python: ".py"}[h.Lang]
}

// Add prepares the plan for a hook that is new, or whose options changed. If its file is
// missing, the hook gets all its files, although the user may have deleted a hook of that
// name before.
func (h Hook) Add(at Place, p *scaffold.Plan) {
	if file := h.Path(at); !p.Exists(file) {
		p.Adds(func(name string) bool { return name == file || name == at.Test })
	}
}

// Plan plans the hook and its tests.
func (h Hook) Plan(at Place, p *scaffold.Plan) error {
	if err := PlanLibrary(h.Lang, at.Library, p); err != nil {
		return err
	}
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
		Library  string // path from the hook's folder
		Config   string
		Handlers []handler
	}{at, libraryFrom(path.Dir(at.File), at.Library), text, h.handlers(known)}
	if err := render.Tree(p.Templates(templates.FS), "hook/"+h.Lang, map[string]string{"file": file}, data, seed); err != nil {
		return err
	}
	tests, err := h.testFile(at, known)
	if err != nil {
		return err
	}
	return seed(at.Test, 0o644, tests)
}

// libraryFrom returns the path from a folder of hooks to the library's folder.
func libraryFrom(dir, library string) string {
	if below, ok := strings.CutPrefix(library, dir+"/"); ok {
		return below
	}
	return strings.Repeat("../", strings.Count(dir, "/")+1) + library
}
