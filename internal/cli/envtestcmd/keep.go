package envtestcmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/spf13/cobra"
)

// newKeep returns the hidden command that supervises the programs of a control plane.
func newKeep(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:    "keep",
		Short:  "Run a control plane for `operon envtest start`",
		Hidden: true,
		Args:   command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := controlplane.Open(a.Getenv)
			if err != nil {
				return err
			}
			return home.Keep(cmd.Context(), a.In, a.Out, a.Environ)
		},
	}
}
