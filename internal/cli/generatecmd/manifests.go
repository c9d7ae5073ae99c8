package generatecmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
)

// NewManifests returns the command manifests, which is generate without Go code.
func NewManifests(a *command.App) *cobra.Command {
	o := &generate{manifests: true}
	o.cmd = &cobra.Command{
		Use:   "manifests [argument...]",
		Short: "Generate CRDs, RBAC and webhook configuration",
		Long: `Generate CRDs, RBAC and webhook configuration as operon generate does, and no Go
code. The flags work in the same way.`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	return o.build(a)
}
