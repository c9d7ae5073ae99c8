// Package envtestcmd implements `operon envtest`, which manages control planes for tests.
package envtestcmd

import (
	"fmt"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

// New returns the command envtest.
func New(a *command.App) *cobra.Command {
	cmd := command.NewGroup("envtest", "Manage a control plane for tests", newBuild(a), newPath(a),
		newStart(a), newRun(a), newStop(a), newStatus(a), newKeep(a))
	cmd.Long = `Provide etcd, kube-apiserver, kube-controller-manager and kubectl for tests.
They are installed in the per-user folder that setup-envtest also uses.
KUBEBUILDER_ASSETS, if set, takes precedence over that folder.`
	return cmd
}

// printPath prints a folder with forward slashes: make and sh remove backslashes.
func printPath(a *command.App, dir string, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Out, filepath.ToSlash(dir))
	return err
}

func bindVersion(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "k8s-version", "", "version of Kubernetes, such as 1.37 or 1.37.1 (default: "+pins.Kubernetes+")")
	command.CompleteValues(cmd, "k8s-version", pins.Kubernetes)
}

// bindName adds the flag that names a control plane.
func bindName(cmd *cobra.Command, name *string, known func() []string) {
	cmd.Flags().StringVar(name, "name", controlplane.DefaultName, "name of the control plane")
	command.CompleteFrom(cmd, "name", known)
}

// exportKubeconfig returns the shell command that selects a control plane for kubectl.
func exportKubeconfig(s controlplane.State) string {
	return fmt.Sprintf("export KUBECONFIG=%q", filepath.ToSlash(s.Kubeconfig))
}

// nameFlag returns the flag that selects the control plane in another command, or "".
func nameFlag(name string) string {
	if name == controlplane.DefaultName {
		return ""
	}
	return fmt.Sprintf(" --name %s", name)
}
