package hookscmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubectl"
	"github.com/spf13/cobra"
)

// newKubectl returns the hidden command that replaces kubectl while a test runs a hook.
func newKubectl(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl",
		Short:              "Answer kubectl calls of a hook in a test",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "--" {
				args = args[1:]
			}
			socket := a.Getenv(kubectl.Socket)
			if socket == "" {
				return fault.Usage("operon hooks test uses this command for the kubectl calls of hooks", "no test is running")
			}
			exit, err := kubectl.Forward(cmd.Context(), socket, kubectl.Call{Args: args, Dir: a.Dir, Stdin: a.In, Stdout: a.Out, Stderr: a.Err})
			if err == nil && exit != 0 {
				err = command.ExitStatus(exit)
			}
			return err
		},
	}
}
