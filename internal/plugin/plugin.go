// Package plugin defines what a plugin is: a name, options, and one function
// from an Event to changes in a Plan. It knows no concrete plugin, and an
// Event is plain data, so that the same protocol can cross a process border.
package plugin

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// EventType names what happened. It is an open string: a plugin ignores the types
// that it does not know.
type EventType string

// The types of the events that operon's own commands send.
const (
	Init          EventType = "init"           // a new project
	CreateAPI     EventType = "create-api"     // Resource holds only the parts to write: types, controllers
	CreateWebhook EventType = "create-webhook" // Resource.Webhooks holds only those to write
	CreateModule  EventType = "create-module"  // Name and Options describe the module
	CreateHook    EventType = "create-hook"    // Name and Options describe the hook
	Edit          EventType = "edit"           // Before is the project before the change
	Generate      EventType = "generate"       // derive generated files from the sources
)

// Event is what a command asks of the plugins. Project is the whole PROJECT file,
// with the changes of this command.
type Event struct {
	Type     EventType         `json:"kind"`
	Dir      string            `json:"dir"` // absolute path of the project root
	Project  *project.Config   `json:"project"`
	Resource *project.Resource `json:"resource,omitempty"` // of CreateAPI and CreateWebhook
	Name     string            `json:"name,omitempty"`     // of CreateHook and CreateModule
	Before   *project.Config   `json:"before,omitempty"`   // of Edit

	// Of Generate: arguments in controller-gen's syntax, and whether Go code is left out.
	Args          []string `json:"args,omitempty"`
	ManifestsOnly bool     `json:"manifestsOnly,omitempty"`

	Environment Environment `json:"environment"`
	// Options holds the flags that describe the event, by name: only those that the
	// user set.
	Options map[string]any `json:"options,omitempty"`
}

// Environment is what plugins may know about the world outside the project.
type Environment struct {
	Year        string `json:"year,omitempty"`        // the year for new licence headers
	CacheDir    string `json:"cacheDir,omitempty"`    // absolute path; empty: keep nothing between runs
	Path        string `json:"path,omitempty"`        // the PATH of programs that a plugin runs
	LicenseText string `json:"licenseText,omitempty"` // content of the file that --license-file names
}

// String returns the option's value, or "" when it is unset or of another type.
func (e Event) String(name string) string {
	s, _ := e.Options[name].(string)
	return s
}

// Strings returns a list option's value, or nil. An event that came as JSON has
// lists of any.
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

// Bool returns the option's value, or false when it is unset or of another type.
func (e Event) Bool(name string) bool {
	b, _ := e.Options[name].(bool)
	return b
}

// Option is a flag that a plugin adds to the commands of some events. The type
// of Default (string, bool or []string) is the type of the flag.
type Option struct {
	Name     string
	Default  any
	Verbatim bool // of a list: each use of the flag is one value; otherwise commas separate values
	Usage    string
	Values   []string                       // valid values, offered by completion; empty means any
	Offer    func(*project.Config) []string // values that completion offers for a flag with many
	Events   []EventType
}

// Plugin turns events into planned changes. Plan may record what it must
// remember in e.Project, which the command saves in the same plan.
type Plugin interface {
	// Name is the key in PROJECT's layout, such as go.kubebuilder.io/v4.
	Name() string
	// Doc is one phrase for help texts.
	Doc() string
	// Options lists the flags this plugin adds.
	Options() []Option
	// Plan adds the changes that e asks for. It must not touch the disk.
	Plan(ctx context.Context, e Event, p *scaffold.Plan) error
}

// Set is an ordered list of plugins.
type Set []Plugin

// Plan runs every plugin in order over the same plan.
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

// Contains reports whether a plugin of that name is in the set.
func (s Set) Contains(name string) bool {
	return slices.ContainsFunc(s, func(p Plugin) bool { return p.Name() == name })
}

// Logic is the form in which the projects of a layout hold the operator's logic.
type Logic string

// The forms of logic.
const (
	GoCode  Logic = "go"
	Hooks   Logic = "hooks"   // of shell-operator
	Modules Logic = "modules" // of addon-operator: charts with hooks
)

// Layout is an entry of the catalogue: a key that PROJECT's layout may hold,
// and the plugins it stands for.
type Layout struct {
	Key     string
	Logic   Logic
	Plugins Set
}

// Doc returns the phrase of the plugin that the layout is named after.
func (l Layout) Doc() string {
	for _, p := range l.Plugins {
		if p.Name() == l.Key {
			return p.Doc()
		}
	}
	return ""
}

// names are those that mean this layout: its key, and the first label of the key
// with and without the version ("go", "go/v4").
func (l Layout) names() []string {
	domain, version, _ := strings.Cut(l.Key, "/")
	label, _, _ := strings.Cut(domain, ".")
	return []string{l.Key, label, label + "/" + version}
}

// Catalogue is the explicit list of layouts. The first is the default of new projects.
type Catalogue []Layout

// Has reports whether a project's layout holds logic of that form.
func (c Catalogue) Has(layout []string, logic Logic) bool {
	return slices.ContainsFunc(c, func(l Layout) bool { return l.Logic == logic && slices.Contains(layout, l.Key) })
}

// layoutKey is the form of a layout key, as PROJECT version 3 has it.
var layoutKey = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z0-9-]+/v[1-9][0-9]*(-alpha|-beta)?$`)

// Resolve maps keys and short names to full keys, in order and without
// repetition. A full key that the catalogue does not know is kept: another
// tool may own it.
func (c Catalogue) Resolve(names []string) ([]string, error) {
	var keys []string
	for _, n := range names {
		key := n
		if i := slices.IndexFunc(c, func(l Layout) bool { return slices.Contains(l.names(), n) }); i >= 0 {
			key = c[i].Key
		} else if !layoutKey.MatchString(n) {
			return nil, fault.Usage(c.meant(n), "unknown plugin %q", n)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// meant is a hint about a name that is no layout's.
func (c Catalogue) meant(name string) string {
	var names []string
	for _, l := range c {
		names = append(names, l.names()...)
	}
	if near := fault.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "valid plugins: " + strings.Join(c.Keys(), ", ")
}

// Select returns the plugins for a project's layout. Unknown keys beside a
// known one are returned for a warning; a layout without any known key is an
// error, for then operon cannot know what to write.
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
		return nil, nil, fault.Usage(c.meant(name), "operon has no plugin for the layout %s", name)
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

// with returns s and those of more that s lacks.
func (s Set) with(more Set) Set {
	for _, p := range more {
		if !s.Contains(p.Name()) {
			s = append(s, p)
		}
	}
	return s
}
