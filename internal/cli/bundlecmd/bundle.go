// Package bundlecmd implements operon bundle: bundles of operators for OLM.
package bundlecmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
)

// New returns the command bundle.
func New(a *command.App) *cobra.Command {
	return command.NewGroup("bundle", "Package the operator for the Operator Lifecycle Manager", newGenerate(a), newValidate(a), newImage(a))
}
