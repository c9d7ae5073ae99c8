package cli

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubectl"
	"github.com/spf13/cobra"
)

// newHooksKubectl is what stands behind the name kubectl when a test runs a hook.
func newHooksKubectl(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl",
		Short:              "Answer a hook that calls kubectl, in a test",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "--" {
				args = args[1:]
			}
			socket := a.Getenv(kubectl.Socket)
			if socket == "" {
				return fault.Usage("it is how `operon hooks test` answers hooks that call kubectl", "no test is running")
			}
			exit, err := kubectl.Forward(cmd.Context(), socket, kubectl.Call{Args: args, Dir: a.Dir, Stdin: a.In, Stdout: a.Out, Stderr: a.Err})
			if err == nil && exit != 0 {
				err = command.ExitStatus(exit)
			}
			return err
		},
	}
}
