package chartcmd

import (
	"context"
	"path"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// generate holds the flags of operon chart generate.
type generate struct {
	command.WriteFlags
	cmd *cobra.Command
}

func newGenerate(a *command.App) *cobra.Command {
	o := &generate{}
	o.cmd = &cobra.Command{
		Use:   "generate",
		Short: "Generate the Helm chart of a Go operator",
		Long: `Generate the Helm chart of a project with the plugin helm from the manifests in
config, and merge what changed with your edits of the chart. The command does
not read Go code: "operon generate" first generates the CRDs and roles, and
then this chart. docs/chart.md describes the chart and its values.`,
		Example: `  operon edit --plugins helm   # once
  operon chart generate
  operon chart generate --check --diff`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.BindCheck(o.cmd, "the chart is not current")
	o.BindForce(o.cmd)
	o.Bind(o.cmd)
	return o.cmd
}

func (o *generate) run(a *command.App) error {
	if err := o.CheckCheck(o.cmd); err != nil {
		return err
	}
	o.HideKept = true
	return a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		l, found := a.Catalogue.Chart(s.Config)
		switch {
		case !found && a.HasGo(s.Config):
			return fault.Usage("run operon edit --plugins helm", "the project has no Helm chart")
		case !found:
			return fault.Usage("use operon generate for the files of this project", "operon chart generate is for operators in Go")
		}
		folder, err := l.Chart(s.Config)
		if err != nil {
			return err
		}
		if file := path.Join(folder, "Chart.yaml"); s.Plan.Exists(file) && !s.Plan.HasBase(file) {
			return fault.Usage("move it away, or choose another folder with operon edit --output-dir", "another tool made the chart in %s", folder)
		}
		inv, err := a.NewInvocation(ctx, s, nil)
		if err != nil {
			return err
		}
		inv.Plugins = l.Plugins
		return inv.Generate(ctx)
	})
}
