package cli

import (
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bindHooks adds the flag that names the folder of hooks.
func bindHooks(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "hooks", "hooks", "`folder` of the hooks")
	command.CompleteFlag(cmd, "hooks", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// bindConfigTime adds the flag for the patience with hooks that are asked for their
// configuration.
func bindConfigTime(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 10*time.Second, "how long a hook may take to print its configuration")
	command.CompleteNothing(cmd, "timeout")
}

// checkTimeout checks --timeout; such is one that will do.
func checkTimeout(timeout time.Duration, such string) error {
	if timeout <= 0 {
		return fault.Usage("such as "+such, "--timeout must be longer than nothing")
	}
	return nil
}

// inDir makes a path of the user's absolute.
func inDir(a *command.App, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(a.Dir, name)
}

// readObjects reads those of a file or folder.
func readObjects(a *command.App, name string) ([]*unstructured.Unstructured, error) {
	return objects.Read(inDir(a, name), name)
}
