package projectcmd

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// firstKindFlags describe the first kind of a Helm project.
var firstKindFlags = append([]string{"group", "version", "kind", "plural", "crd-version"}, charts.Flags...)

// firstKind plans the first kind of a new Helm project, if the flags name one, and the
// permissions.
func (o *initProject) firstKind(ctx context.Context, a *command.App, inv *command.Invocation) error {
	text := func(flag string) string { s, _ := inv.Options[flag].(string); return s }
	if text("group")+text("version")+text("kind")+text("plural") == "" && !slices.ContainsFunc(charts.Flags, o.cmd.Flags().Changed) {
		return inv.Generate(ctx)
	}
	r := project.Resource{
		Group: text("group"), Domain: inv.Config.Domain, Version: text("version"), Kind: text("kind"), Plural: text("plural"),
		API: &project.API{CRDVersion: "v1", Namespaced: true},
	}
	chart, err := charts.Fetch(ctx, a, o.cmd, inv.Root)
	if err != nil {
		return err
	}
	if err := charts.CompleteKind(&r, chart, inv.Project); err != nil {
		return err
	}
	switch {
	case r.Version == "":
		return fault.Usage("add --version, for example --version v1alpha1", "no version given for the first kind")
	case r.Kind == "":
		return fault.Usage("add --kind, for example --kind Frigate, or --helm-chart", "no kind given for the first kind")
	}
	if version := text("crd-version"); version != "" {
		if err := project.CheckCRDVersion(version); err != nil {
			return err
		}
	}
	if err := inv.Config.ValidateResource(r); err != nil {
		return err
	}
	inv.Config.Put(r)
	o.first = r
	o.nextStep = "edit the chart in helm-charts, then operon generate"
	if err := inv.Send(ctx, plugin.Event{Type: plugin.CreateAPI, Resource: &r, Chart: chart}); err != nil {
		return err
	}
	return inv.Generate(ctx)
}

// checkFirstKind rejects flags for a first kind in a project that exists.
func (o *initProject) checkFirstKind() error {
	for _, flag := range firstKindFlags {
		if o.cmd.Flags().Changed(flag) {
			return fault.Usage("use operon create api", "--%s applies to a new project, and this one is initialized", flag)
		}
	}
	return nil
}
