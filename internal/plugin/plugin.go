// Package plugin defines plugins: a name, options, and a function that turns an
// Event into changes of a Plan. The package does not depend on concrete plugins.
// An Event is plain data, so that plugins can run in other processes.
package plugin

import (
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// EventType names what happened. The set is open: a plugin ignores unknown
// types.
type EventType string

// These are the types of events that operon's commands send.
const (
	Init          EventType = "init"           // a new project
	CreateAPI     EventType = "create-api"     // Resource has only the parts to write: types, controllers
	CreateWebhook EventType = "create-webhook" // Resource.Webhooks has only the ones to write
	CreateModule  EventType = "create-module"  // Name and Options describe the module
	CreateHook    EventType = "create-hook"    // Name and Options describe the hook
	Edit          EventType = "edit"           // Before is the project before the change
	Generate      EventType = "generate"       // derive generated files from the sources
)

// Event is a request of a command to the plugins. Project is the whole PROJECT
// file with the changes of this command.
type Event struct {
	Type     EventType         `json:"kind"`
	Dir      string            `json:"dir"` // absolute path of the project root
	Project  *project.Config   `json:"project"`
	Resource *project.Resource `json:"resource,omitempty"` // for CreateAPI and CreateWebhook
	Name     string            `json:"name,omitempty"`     // for CreateHook and CreateModule
	Before   *project.Config   `json:"before,omitempty"`   // for Edit

	// For Generate: arguments in controller-gen's syntax, and whether to omit Go code.
	Args          []string `json:"args,omitempty"`
	ManifestsOnly bool     `json:"manifestsOnly,omitempty"`

	Environment Environment `json:"environment"`
	// Options holds the flags of the event by name. It contains only flags that
	// the user set.
	Options map[string]any `json:"options,omitempty"`
}

// Environment is the information that plugins get about the world outside the
// project.
type Environment struct {
	Year        string `json:"year,omitempty"`        // the year for new license headers
	CacheDir    string `json:"cacheDir,omitempty"`    // absolute path; empty: no cache between runs
	Path        string `json:"path,omitempty"`        // the PATH of programs that a plugin runs
	LicenseText string `json:"licenseText,omitempty"` // content of the file in --license-file
}

// String returns the value of an option, or "" if it is unset or has another
// type.
func (e Event) String(name string) string {
	s, _ := e.Options[name].(string)
	return s
}

// Strings returns the value of a list option, or nil. An event decoded from
// JSON has lists of type []any.
func (e Event) Strings(name string) []string {
	var list []string
	switch v := e.Options[name].(type) {
	case []string:
		list = v
	case []any:
		for _, item := range v {
			if s, ok := item.(string); ok {
				list = append(list, s)
			}
		}
	}
	return list
}

// Bool returns the value of an option, or false if it is unset or has another
// type.
func (e Event) Bool(name string) bool {
	b, _ := e.Options[name].(bool)
	return b
}

// Option is a flag that a plugin adds to the commands of some events. The type
// of Default (string, bool or []string) is the type of the flag.
type Option struct {
	Name     string
	Default  any
	Verbatim bool // for a list: each use of the flag is one value; otherwise commas separate values
	Usage    string
	Values   []string                       // valid values, offered by completion; empty means any
	Offer    func(*project.Config) []string // values that completion offers if they depend on the project
	Events   []EventType
}

// Plugin turns events into planned changes. Plan may store its configuration in
// e.Project, which the command saves in the same plan.
type Plugin interface {
	// Name is the key in PROJECT's layout, such as go.kubebuilder.io/v4.
	Name() string
	// Doc is one phrase for help texts.
	Doc() string
	// Options lists the flags that this plugin adds.
	Options() []Option
	// Plan adds the changes for e to the plan. It must not access the disk.
	Plan(ctx context.Context, e Event, p *scaffold.Plan) error
}

// Set is an ordered list of plugins.
type Set []Plugin

// Plan runs every plugin in order on the same plan.
func (s Set) Plan(ctx context.Context, e Event, p *scaffold.Plan) error {
	if (e.Type == CreateAPI || e.Type == CreateWebhook) && e.Resource == nil {
		return fault.Failed("", "the event %s has no resource", e.Type)
	}
	for _, pl := range s {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pl.Plan(ctx, e, p); err != nil {
			return err
		}
	}
	return nil
}

// Contains reports whether the set has a plugin with this name.
func (s Set) Contains(name string) bool {
	return slices.ContainsFunc(s, func(p Plugin) bool { return p.Name() == name })
}

// Logic is how the projects of a layout implement the operator.
type Logic string

// The kinds of logic.
const (
	GoCode  Logic = "go"
	Hooks   Logic = "hooks"   // of shell-operator
	Modules Logic = "modules" // of addon-operator: charts with hooks
)

// Layout is an entry of the catalogue: a key that PROJECT's layout can contain,
// and its plugins.
type Layout struct {
	Key     string
	Logic   Logic
	Plugins Set
}

// Doc returns the phrase of the plugin that has the name of the layout.
func (l Layout) Doc() string {
	for _, p := range l.Plugins {
		if p.Name() == l.Key {
			return p.Doc()
		}
	}
	return ""
}

// names returns the names of this layout: its key, and the first label of the
// key with and without the version ("go", "go/v4").
func (l Layout) names() []string {
	domain, version, _ := strings.Cut(l.Key, "/")
	label, _, _ := strings.Cut(domain, ".")
	return []string{l.Key, label, label + "/" + version}
}

// Catalogue is the list of layouts. The first one is the default for new
// projects.
type Catalogue []Layout

// Has reports whether a project with this layout has this kind of logic.
func (c Catalogue) Has(layout []string, logic Logic) bool {
	return slices.ContainsFunc(c, func(l Layout) bool { return l.Logic == logic && slices.Contains(layout, l.Key) })
}

// layoutKey matches a layout key of PROJECT version 3.
var layoutKey = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z0-9-]+/v[1-9][0-9]*(-alpha|-beta)?$`)

// Resolve maps keys and short names to full keys, in order and without
// duplicates. It keeps unknown full keys, which can belong to another tool.
func (c Catalogue) Resolve(names []string) ([]string, error) {
	var keys []string
	for _, n := range names {
		key := n
		if i := slices.IndexFunc(c, func(l Layout) bool { return slices.Contains(l.names(), n) }); i >= 0 {
			key = c[i].Key
		} else if !layoutKey().MatchString(n) {
			return nil, fault.Usage(c.suggestion(n), "unknown plugin %q", n)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// suggestion returns a hint for an unknown layout name.
func (c Catalogue) suggestion(name string) string {
	var names []string
	for _, l := range c {
		names = append(names, l.names()...)
	}
	if near := fault.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "valid plugins: " + strings.Join(c.Keys(), ", ")
}

// Select returns the plugins for the layout of a project. It returns unknown
// keys next to a known one, for a warning. A layout without a known key is an
// error.
func (c Catalogue) Select(layout []string) (active Set, unknown []string, err error) {
	for _, key := range layout {
		i := slices.IndexFunc(c, func(l Layout) bool { return l.Key == key })
		if i < 0 {
			unknown = append(unknown, key)
			continue
		}
		active = active.with(c[i].Plugins)
	}
	if len(active) == 0 {
		name := strings.Join(layout, ", ")
		return nil, nil, fault.Usage(c.suggestion(name), "operon has no plugin for the layout %s", name)
	}
	return active, unknown, nil
}

// All returns every plugin of the catalogue once.
func (c Catalogue) All() Set {
	var all Set
	for _, l := range c {
		all = all.with(l.Plugins)
	}
	return all
}

// Keys returns the layout keys in order.
func (c Catalogue) Keys() []string {
	var keys []string
	for _, l := range c {
		keys = append(keys, l.Key)
	}
	return keys
}

// with returns s with the plugins of more that s does not contain.
func (s Set) with(more Set) Set {
	for _, p := range more {
		if !s.Contains(p.Name()) {
			s = append(s, p)
		}
	}
	return s
}
