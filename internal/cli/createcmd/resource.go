package createcmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// resourceCreation has the fields that create api and create webhook share.
type resourceCreation struct {
	creation
	resource project.Resource // values of the flags
	external externalFlags
	chart    *plugin.Chart // in a Helm project
	plugins  []string      // --plugins: the names of those that take part in this command
}

// bindResource adds the flags that identify a resource.
func (o *resourceCreation) bindResource(groupUsage, pluralUsage string) {
	f := o.cmd.Flags()
	f.StringVar(&o.resource.Group, "group", "", groupUsage)
	f.StringVar(&o.resource.Version, "version", "", "API version, such as v1 or v1alpha1")
	f.StringVar(&o.resource.Kind, "kind", "", "API kind in PascalCase, such as Frigate")
	f.StringVar(&o.resource.Plural, "plural", "", pluralUsage)
	f.StringSliceVar(&o.plugins, "plugins", nil, "plugins for this command (default: the plugins of the layout)")
	o.external.bind(o.cmd)
}

// checkFlags validates each flag by itself, before any prompt. more holds the results for
// the other flags of the command.
func (o *resourceCreation) checkFlags(more ...error) error {
	err := project.CheckGroup(o.resource.Group)
	if err == nil && o.resource.Version != "" {
		err = project.CheckVersion(o.resource.Version)
	}
	if err == nil && o.resource.Kind != "" {
		err = project.CheckKind(o.resource.Kind)
	}
	return cmp.Or(err, cmp.Or(more...), o.external.check())
}

// sendResource records a resource in PROJECT, and plans the parts of it that the command adds.
func (o *resourceCreation) sendResource(
	ctx context.Context, a *command.App, s command.Project, event plugin.EventType, whole, added project.Resource,
) error {
	if !recorded(s.Config, added) {
		s.Plan.Adds(added.IsOwnFile)
	}
	s.Config.Put(whole)
	return o.send(ctx, a, s, plugin.Event{Type: event, Resource: &added, Chart: o.chart})
}

// recorded reports whether PROJECT has one of the parts of a resource.
func recorded(c *project.Config, r project.Resource) bool {
	old := c.Find(r.Group, r.Version, r.Kind)
	if old == nil {
		return false
	}
	controller := slices.ContainsFunc(r.ControllerNames(), func(name string) bool { return slices.Contains(old.ControllerNames(), name) })
	return old.API != nil && r.API != nil || controller || old.Webhooks != nil && r.Webhooks != nil
}

// checkPlural rejects a plural that differs from the plural of the existing resource.
func (o *resourceCreation) checkPlural(old project.Resource) error {
	if o.cmd.Flags().Changed("plural") && o.resource.Plural != old.PluralName() {
		return fault.Usage("remove --plural", "%s %s exists with the plural %q", old.Version, old.Kind, old.PluralName())
	}
	return nil
}

// wizard returns the prompts of the command, after it has prompted for the group, version
// and kind if they are missing. group checks the API group. ok is false if nobody can answer.
func (o *resourceCreation) wizard(a *command.App, group func(string) error) (w *wizard, ok bool, err error) {
	missing := checkNamed(o.resource)
	if a.Prompt == nil {
		return w, false, missing
	}
	w = &wizard{app: a, cmd: o.cmd, domain: o.project.Config.Domain, group: group}
	if missing == nil {
		return w, true, nil
	}
	return w, true, w.names(&o.resource)
}
