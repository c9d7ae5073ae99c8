package cli

import (
	"fmt"
	"path/filepath"

	"github.com/operon-dev/operon/internal/controlplane/assets"
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
			store, err := assets.Open(assets.Options{Env: a.Environ})
			if err != nil {
				return err
			}
			if dir := a.getenv(assets.Var); dir != "" {
				a.note("note: %s=%s is set: tests use that folder and not the one that is built here", assets.Var, dir)
			}
			dir, err := store.Build(cmd.Context(), version, func(line string) { a.note("%s", line) })
			return a.printPath(dir, err)
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
			store, err := assets.Open(assets.Options{Env: a.Environ})
			if err != nil {
				return err
			}
			dir, err := store.Path(version)
			return a.printPath(dir, err)
		},
	}
	bindKubernetes(cmd, &version)
	return cmd
}

// printPath prints a folder with forward slashes, for make and sh eat others.
func (a *App) printPath(dir string, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Out, filepath.ToSlash(dir))
	return err
}

func bindKubernetes(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "k8s-version", "", "version of Kubernetes, such as 1.37 or 1.37.1 (default: "+pins.Kubernetes+")")
	completeValues(cmd, "k8s-version", pins.Kubernetes)
}
