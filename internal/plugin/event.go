package plugin

import (
	"context"

	"github.com/operon-dev/operon/internal/project"
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
	Edit          EventType = "edit"           // Project differs from Before
	Generate      EventType = "generate"       // derive generated files from the sources
)

// Event is a request of a command to the plugins. Project is the whole PROJECT
// file with the changes of this command.
type Event struct {
	Type     EventType
	Dir      string // absolute path of the project root
	Project  *project.Config
	Resource *project.Resource // for CreateAPI and CreateWebhook
	Name     string            // for CreateHook and CreateModule
	Before   *project.Config   // PROJECT before the command; empty in a new project

	// Replay is true if an earlier command had the same event. Then PROJECT has what it recorded.
	Replay bool

	// Chart is the chart of a new kind, for CreateAPI. It is nil in a replay.
	Chart *Chart

	// For Generate: arguments in controller-gen's syntax, and whether to omit Go code.
	Args          []string
	ManifestsOnly bool

	// Whole, for Generate, means that files are as the generators make them. Without it, files with content that operon
	// did not write only get what the other changes of the plan add.
	Whole bool
	// Compare means that nothing is written: files with such content are out of date.
	Compare bool

	// Explain, if not nil, makes a Generate event plan nothing, and say what it would run.
	Explain *Explanation

	Environment Environment
	// Options holds the flags of the event by name. It contains only flags that
	// the user set.
	Options map[string]any
}

// Chart is a Helm chart that a command read.
type Chart struct {
	Name string
	// Files has the contents of all files by their slash-separated paths in the chart. It is empty
	// for the starter chart of the plugin.
	Files map[string][]byte
	// Origin says where the chart comes from. It is nil for the starter chart.
	Origin *project.ChartOrigin
}

// Environment is the information that plugins get about the world outside the
// project.
type Environment struct {
	Year        string // the year for new license headers
	CacheDir    string // absolute path; empty: no cache between runs
	Path        string // the PATH of programs that a plugin runs
	LicenseText string // content of the file in --license-file
	Network     bool   // whether plugins may download missing modules

	// The environment of programs that plugins run (see package environ), and the path of operon.
	Environ []string
	Program string
	// Allow returns an error unless the user lets commands run that PROJECT has. The checksum identifies their version.
	Allow func(ctx context.Context, commands, checksum string) error `json:"-"`
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
