package generatecmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// toolsFlag is the flag that chooses the version of controller-tools.
const toolsFlag = "controller-tools"

// chooseTools asks a person which version of controller-tools generates, if the project pins another
// one than operon's and the plan warns about that. The answer becomes the value of the flag, which
// PROJECT records, so that the question is not repeated.
func (o *generate) chooseTools(ctx context.Context, a *command.App, s command.Project) error {
	warned := func(w scaffold.Warning) bool { return w.Rule == gen.RuleToolsVersion }
	if a.Prompt == nil || o.DryRun || !slices.ContainsFunc(s.Plan.Warnings(), warned) {
		return nil
	}
	inv, err := a.NewInvocation(ctx, s, o.options)
	if err != nil {
		return err
	}
	var e plugin.Explanation
	if err := inv.GeneratePart(ctx, plugin.Event{ManifestsOnly: o.manifests, Options: inv.Options, Explain: &e}); err != nil {
		return err
	}
	tools := e.ControllerTools
	old := ""
	if !controllertools.BuildsWithNewGo(tools.Pinned) {
		old = ", which Go 1.25 and later versions cannot build"
	}
	question := fmt.Sprintf("The project pins controller-tools %s%s, and operon has %s. Always generate with operon's version?", tools.Pinned, old, tools.Runs)
	return command.Ask(ctx, func(ctx context.Context) error {
		own, err := a.Prompt.Confirm(ctx, question, true)
		if err != nil {
			return err
		}
		choice := tools.Pinned
		if own {
			choice = "operon"
		}
		if err := o.cmd.Flags().Set(toolsFlag, choice); err != nil {
			return err
		}
		a.Notef("equivalent command: %s %s", o.cmd.CommandPath(), shellquote.Join(command.ChangedFlags(o.cmd)...))
		return nil
	})
}
