package cli

import (
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

func newEnvtest(a *App) *cobra.Command {
	cmd := newGroup("envtest", "Provide a real API server for tests", newEnvtestBuild(a), newEnvtestPath(a))
	cmd.Long = `Provide etcd, kube-apiserver and kubectl for tests, in the per-user folder that
setup-envtest also uses. KUBEBUILDER_ASSETS, when set, wins over that folder.`
	return cmd
}

func newEnvtestBuild(a *App) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the control plane from Go modules, unless it is there",
		Long: `Build etcd, kube-apiserver and kubectl from their Go modules into the per-user
store, and print the folder. It needs Go and a module proxy, and takes a few
minutes the first time; it changes nothing when they are already there.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlplane.PrintBuild(cmd.Context(), controlplane.Options{Env: a.Environ}, version, a.Out, a.Err)
		},
	}
	bindKubernetes(cmd, &version)
	return cmd
}

func newEnvtestPath(a *App) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:     "path",
		Short:   "Print the folder of the control plane; never builds",
		Example: `  KUBEBUILDER_ASSETS="$(operon envtest path)" go test ./...`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			return controlplane.PrintPath(controlplane.Options{Env: a.Environ}, version, a.Out)
		},
	}
	bindKubernetes(cmd, &version)
	return cmd
}

func bindKubernetes(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "k8s-version", "", "version of Kubernetes, such as 1.37 or 1.37.1 (default: "+pins.Kubernetes+")")
	completeValues(cmd, "k8s-version", pins.Kubernetes)
}
