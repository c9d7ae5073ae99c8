// Package plugin defines plugins: a name, options, and a function that turns an
// Event into changes of a Plan. The package does not depend on concrete plugins.
// An Event is plain data, so that plugins can run in other processes.
package plugin

import (
	"context"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Option is a flag that a plugin adds to the commands of some events. The type
// of Default (string, bool or []string) is the type of the flag.
type Option struct {
	Name     string
	Default  any
	Verbatim bool // for a list: each use of the flag is one value; otherwise commas separate values
	Usage    string
	Values   []string                       // offered by completion; the plugin validates the value
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
		return fmt.Errorf("the event %s has no resource", e.Type)
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

// with returns s with the plugins of more that s does not contain.
func (s Set) with(more Set) Set {
	for _, p := range more {
		if !s.Contains(p.Name()) {
			s = append(s, p)
		}
	}
	return s
}
