package generatecmd

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// generator runs operon generate as a step of another command, whose stdout belongs to another program.
type generator struct {
	cmd      *cobra.Command
	app      *command.App
	flags    command.WriteFlags
	warnings []scaffold.Warning // of the last run
}

// NewGenerator returns a function that generates the files of a project as a step of cmd. It reports
// changes on stderr, and warnings unless its last call had the same.
func NewGenerator(cmd *cobra.Command, a *command.App) func(command.Project) error {
	g := &generator{cmd: cmd, app: a, flags: command.WriteFlags{Output: command.FormatText}}
	return g.generate
}

func (g *generator) generate(p command.Project) error {
	reporter := *g.app
	reporter.Out = g.app.Err
	w := g.flags
	w.ChangesOnly = true
	w.Report = func(r command.PlanReport) error {
		repeated := slices.Equal(r.Warnings(), g.warnings)
		g.warnings = r.Warnings()
		return reporter.PrintPlan(r.WithoutWarnings(repeated), w.Output)
	}
	return planAll(g.cmd, &reporter, p, w)
}

// planAll writes what all generators of a project write.
func planAll(cmd *cobra.Command, a *command.App, p command.Project, w command.WriteFlags) error {
	return a.ChangeProject(cmd, p, w, func(ctx context.Context, s command.Project) error {
		inv, err := a.NewInvocation(ctx, s, nil)
		if err != nil {
			return err
		}
		return inv.GeneratePart(ctx, plugin.Event{Whole: true})
	})
}
