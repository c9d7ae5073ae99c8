package cli

import (
	"fmt"
	"path/filepath"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

func newEnvtest(a *App) *cobra.Command {
	cmd := newGroup("envtest", "Provide a real API server for tests", newEnvtestBuild(a), newEnvtestPath(a),
		newEnvtestStart(a), newEnvtestStop(a), newEnvtestStatus(a), newEnvtestKeep(a))
	cmd.Long = `Provide etcd, kube-apiserver and kubectl for tests, in the per-user folder that
setup-envtest also uses, and kube-controller-manager beside them.
KUBEBUILDER_ASSETS, when set, wins over that folder.`
	return cmd
}

func newEnvtestBuild(a *App) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the control plane from Go modules, unless it is there",
		Long: `Build etcd, kube-apiserver, kube-controller-manager and kubectl from their Go
modules into the per-user store, and print the folder. It needs Go and a module
proxy, and takes a few minutes the first time; it changes nothing when they are
already there. kube-controller-manager, which setup-envtest does not have, is
added to the folder of Kubernetes ` + pins.Kubernetes + ` alone.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := assets.Open(assets.Options{Env: a.Environ})
			if err != nil {
				return err
			}
			if dir := a.getenv(assets.Var); dir != "" {
				a.note("note: %s=%s is set: tests use that folder and not the one that is built here", assets.Var, dir)
			}
			dir, err := store.Build(cmd.Context(), version, a.progress)
			return a.printPath(dir, err)
		},
	}
	bindKubernetes(cmd, &version)
	return cmd
}

func newEnvtestPath(a *App) *cobra.Command {
	var version string
	var build bool
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print the folder of the control plane",
		Long: `Print the folder with etcd, kube-apiserver and kubectl, for KUBEBUILDER_ASSETS.
Nothing is built unless --build asks for it.`,
		Example: `  KUBEBUILDER_ASSETS="$(operon envtest path --build)" go test ./...`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := assets.Open(assets.Options{Env: a.Environ})
			if err != nil {
				return err
			}
			find := store.Path
			if build {
				find = func(version string) (string, error) {
					return store.Ensure(cmd.Context(), version, false, a.progress)
				}
			}
			dir, err := find(version)
			return a.printPath(dir, err)
		},
	}
	bindKubernetes(cmd, &version)
	cmd.Flags().BoolVar(&build, "build", false, "build what is missing first, from Go modules")
	return cmd
}

// progress shows what a long piece of work does.
func (a *App) progress(line string) { a.note("%s", line) }

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
