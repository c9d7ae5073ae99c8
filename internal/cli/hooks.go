package cli

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
)

func newHooks(a *command.App) *cobra.Command {
	cmd := command.NewGroup("hooks", "Check and test the hooks of a shell-operator",
		newHooksValidate(a),
		newHooksContext(a),
		newHooksRun(a),
		newHooksTest(a),
		newHooksRBAC(a),
		newHooksKubectl(a),
	)
	for _, child := range cmd.Commands() {
		child.Flags().SortFlags = false // they stand in the order of their use
	}
	cmd.Long = `Work on the hooks of a shell-operator: an operator whose logic is scripts that
the engine github.com/flant/shell-operator runs when objects change. The engine
stays what it is; these commands check what goes into its image.`
	return cmd
}
