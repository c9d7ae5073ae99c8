package chartcmd

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// update holds the flags of operon chart update.
type update struct {
	command.WriteFlags
	version string
	meaning meaning
	cmd     *cobra.Command
}

func newUpdate(a *command.App) *cobra.Command {
	o := &update{}
	cmd := &cobra.Command{
		Use:   "update [name]",
		Short: "Update charts to new versions, and report what they change",
		Long: `Fetch the chart again from where "operon create api" took it, and update its
folder in helm-charts, the CRD, the sample and the permissions. What you changed
in the chart stays. Without a name, the command updates all charts whose
source PROJECT records.

The report says what the new version means for users and for the cluster: fields
of the CRD that are added, removed or have another type, objects that releases
gain or lose, fields that an upgrade cannot change, and permissions.`,
		Example: `  operon chart update galley --dry-run
  operon chart update galley --version 2.1.0
  operon chart update galley --version "~2.1" --diff
  operon chart update --output json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return chartNames(a), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.cmd = cmd
	cmd.Flags().StringVar(&o.version, "version", "", "version of the chart, or a constraint such as ~1.2 (default: the newest release)")
	command.CompleteNothing(cmd, "version")
	o.BindForce(cmd)
	o.Updates = func() any { return o.meaning }
	o.Report = func(r command.PlanReport) error { return o.print(a, r) }
	o.Bind(cmd)
	return cmd
}

// chartNames returns the names of the charts that can be updated.
func chartNames(a *command.App) []cobra.Completion {
	c, err := a.ReadConfig()
	if err != nil {
		return nil
	}
	charts, err := c.ChartOrigins()
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, folder := range slices.Sorted(maps.Keys(charts)) {
		names = append(names, path.Base(folder))
	}
	return names
}

// next is a chart of the project with its new version.
type next struct {
	watch watches.Watch
	kind  project.Resource
	chart *plugin.Chart
}

func (o *update) run(a *command.App, args []string) error {
	if len(args) > 1 {
		return fault.Usage("name one chart, or none to update all", "one chart at most, got %d", len(args))
	}
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	if !a.HasCharts(p.Config) {
		hint := forHelmOperators
		if a.HasGo(p.Config) {
			hint = "operon chart generate updates the chart of an operator in Go"
		}
		return fault.Usage(hint, "this project does not install charts")
	}
	all, err := o.fetch(a, p, args)
	if err != nil {
		return err
	}
	return a.ChangeProject(o.cmd, p, o.WriteFlags, func(ctx context.Context, s command.Project) error { return o.plan(ctx, a, s, all) })
}

// fetch fetches the new versions of the charts.
func (o *update) fetch(a *command.App, p command.Project, args []string) ([]next, error) {
	list, _, err := charts.ReadWatches(p.Root)
	if err != nil {
		return nil, err
	}
	origins, err := p.Config.ChartOrigins()
	if err != nil {
		return nil, err
	}
	chosen, err := choose(list, origins, args)
	if err != nil {
		return nil, err
	}
	if o.version != "" && len(chosen) > 1 {
		return nil, fault.Usage("name one of: "+strings.Join(namesOf(chosen), ", "), "--version applies to one chart, and this project has %d", len(chosen))
	}
	var all []next
	for _, w := range chosen {
		kind := charts.ResourceOf(w, p.Config)
		if kind == nil {
			return nil, fault.Usage("add the kind to PROJECT, or remove the chart there", "PROJECT has no resource %s, but a chart for it", w.GVK())
		}
		c, err := charts.FetchOrigin(o.cmd.Context(), a, origins[w.Chart], o.version, p.Root)
		if err != nil {
			return nil, err
		}
		all = append(all, next{w, *kind, c})
	}
	return all, nil
}

// choose returns the entries of watches.yaml for the chart with a name, or for all charts that have
// an origin.
func choose(list []watches.Watch, origins map[string]project.ChartOrigin, args []string) ([]watches.Watch, error) {
	const hint = "to record it, run operon create api --helm-chart SOURCE with the --group, --version and --kind of the chart"
	var chosen, named []watches.Watch
	for _, w := range list {
		isChosen := slices.ContainsFunc(chosen, func(o watches.Watch) bool { return o.Chart == w.Chart })
		if isChosen || len(args) > 0 && path.Base(w.Chart) != path.Base(args[0]) {
			continue
		}
		named = append(named, w)
		if _, ok := origins[w.Chart]; ok {
			chosen = append(chosen, w)
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case len(args) == 0:
		return nil, fault.Usage(hint, "PROJECT does not say where a chart comes from")
	case len(named) > 0:
		return nil, fault.Usage(hint, "PROJECT does not say where the chart %s comes from", args[0])
	}
	return nil, fault.Usage("name one of: "+strings.Join(namesOf(list), ", "), "%s has no chart %s", watches.File, args[0])
}

// namesOf returns the names of the folders of charts.
func namesOf(list []watches.Watch) []string {
	var names []string
	for _, w := range list {
		names = append(names, path.Base(w.Chart))
	}
	return names
}

// plan plans the new versions and what is derived from them, and compares both with what is there.
func (o *update) plan(ctx context.Context, a *command.App, s command.Project, all []next) error {
	before, err := takeSnapshot(s.Plan, all)
	if err != nil {
		return err
	}
	inv, err := a.NewInvocation(ctx, s, nil)
	if err != nil {
		return err
	}
	for _, n := range all {
		r := n.kind
		r.Controllers, r.Webhooks = nil, nil
		if err := inv.Send(ctx, plugin.Event{Type: plugin.CreateAPI, Resource: &r, Chart: n.chart}); err != nil {
			return err
		}
	}
	if err := inv.Generate(ctx); err != nil || len(s.Plan.Conflicts()) > 0 {
		return err
	}
	after, err := takeSnapshot(s.Plan, all)
	if err != nil {
		return err
	}
	o.meaning, err = compare(ctx, s.Config, all, before, after)
	return err
}

// print prints the plan and what it means.
func (o *update) print(a *command.App, r command.PlanReport) error {
	if err := a.PrintPlan(r, o.Output); err != nil || o.Output == command.FormatJSON {
		return err
	}
	return a.Print(o.meaning.text())
}
