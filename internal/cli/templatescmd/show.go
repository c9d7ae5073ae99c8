package templatescmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

func newShow(a *command.App) *cobra.Command {
	var own, diff bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a template",
		Long: `Print a template as the project uses it: the one of the team if it has one, and
otherwise operon's own. With --diff, print what the team has changed.`,
		Example: `  operon templates show golang/init/Makefile.tmpl
  operon templates show golang/init/Makefile.tmpl --diff`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usage("name one template, as in operon templates show golang/init/Makefile.tmpl", "%s needs one name, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if own && diff {
				return fault.Usage("remove one of the flags", "--diff compares the template of the team with operon's own, which --built-in prints")
			}
			return show(cmd.Context(), a, args[0], own, diff)
		},
	}
	cmd.Flags().BoolVar(&own, "built-in", false, "print operon's own template")
	cmd.Flags().BoolVar(&diff, "diff", false, "print how the template of the team differs from operon's own")
	return cmd
}

func show(ctx context.Context, a *command.App, name string, own, diff bool) error {
	text, err := content(name)
	if err != nil {
		return err
	}
	if !own {
		team, _, err := teamOf(ctx, a)
		if err != nil {
			return err
		}
		t, replaced := team[name]
		switch {
		case diff && !replaced:
			return fault.Usage("operon templates copy "+name+" replaces it", "the team has not replaced %s", name)
		case diff:
			changes := scaffold.Change{Path: name, Before: text, After: t.Content}.Diff()
			text = []byte(command.ColourDiff(changes, command.Painter(a.Out, a.Getenv)))
		case replaced:
			text = t.Content
		}
	}
	_, err = a.Out.Write(text)
	return err
}
