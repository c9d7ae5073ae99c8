// Package hookscmd contains operon hooks and its subcommands, which validate, test and run
// the hooks of a shell-operator or an addon-operator. The packages below internal/hooks do
// the work.
package hookscmd

import (
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/spf13/cobra"
)

// New returns operon hooks.
func New(a *command.App) *cobra.Command {
	cmd := command.NewGroup("hooks", "Validate, test and run the hooks of an operator",
		newValidate(a),
		newContext(a),
		newRun(a),
		newTest(a),
		newRBAC(a),
		newKubeconfig(a),
	)
	for _, child := range cmd.Commands() {
		child.Flags().SortFlags = false // the most important flags come first
	}
	cmd.Long = `Work on hooks: scripts that the engine github.com/flant/shell-operator, or
github.com/flant/addon-operator, runs when objects change. These commands do not
need the engine; hooks run on this machine as they would in its image.`
	return cmd
}

// bindHooksFolder adds the flag for the hooks folder.
func bindHooksFolder(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "hooks", defaultFolder, "`folder` of the hooks")
	command.CompleteFolder(cmd, "hooks")
}

// bindCRDs adds the flag for files with CRDs.
func bindCRDs(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "crd", nil, "`file` or folder with CRDs, in addition to config/crd/bases")
}

// configTimeout is the default of the time limit of hooks that run with --config.
const configTimeout = 10 * time.Second

// bindConfigTimeout adds the flag for the time limit of hooks that run with --config.
func bindConfigTimeout(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", configTimeout, "how long a hook may take to print its configuration")
	command.CompleteNothing(cmd, "timeout")
}

// checkTimeout checks --timeout; example is a valid value.
func checkTimeout(timeout time.Duration, example string) error {
	if timeout <= 0 {
		return fault.Usage("for example: --timeout "+example, "--timeout %s is not greater than zero", timeout)
	}
	return nil
}

func loader(a *command.App, timeout time.Duration) hookproject.Loader {
	return hookproject.Loader{Path: a.Getenv("PATH"), Timeout: timeout}
}
