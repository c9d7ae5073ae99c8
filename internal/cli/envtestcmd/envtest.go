// Package envtestcmd holds `operon envtest`, which provides a control plane for tests.
package envtestcmd

import (
	"fmt"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

func New(a *command.App) *cobra.Command {
	cmd := command.NewGroup("envtest", "Provide a real API server for tests", newEnvtestBuild(a), newEnvtestPath(a),
		newEnvtestStart(a), newEnvtestStop(a), newEnvtestStatus(a), newEnvtestKeep(a))
	cmd.Long = `Provide etcd, kube-apiserver and kubectl for tests, in the per-user folder that
setup-envtest also uses, and kube-controller-manager beside them.
KUBEBUILDER_ASSETS, when set, wins over that folder.`
	return cmd
}

func newEnvtestBuild(a *command.App) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the control plane from Go modules, unless it is there",
		Long: `Build etcd, kube-apiserver, kube-controller-manager and kubectl from their Go
modules into the per-user store, and print the folder. It needs Go and a module
proxy, and takes a few minutes the first time; it changes nothing when they are
already there. kube-controller-manager, which setup-envtest does not have, is
added to the folder of Kubernetes ` + pins.Kubernetes + ` alone.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := assets.Open(assets.Options{Env: a.Environ})
			if err != nil {
				return err
			}
			if dir := a.Getenv(assets.Var); dir != "" {
				a.Notef("note: %s=%s is set: tests use that folder and not the one that is built here", assets.Var, dir)
			}
			dir, err := store.Build(cmd.Context(), version, a.Progress)
			return printPath(a, dir, err)
		},
	}
	bindKubernetes(cmd, &version)
	return cmd
}

func newEnvtestPath(a *command.App) *cobra.Command {
	var version, index string
	var build, download bool
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print the folder of the control plane",
		Long: `Print the folder with etcd, kube-apiserver and kubectl, for KUBEBUILDER_ASSETS.
Nothing is built or downloaded unless a flag asks for it: --build takes Go modules
and has Kubernetes ` + pins.Kubernetes + ` alone, --download takes what setup-envtest takes.`,
		Example: `  KUBEBUILDER_ASSETS="$(operon envtest path --build)" go test ./...
  operon envtest path --download --k8s-version 1.36`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := assets.Open(assets.Options{Env: a.Environ})
			if err != nil {
				return err
			}
			var dir string
			switch {
			case build && download:
				return fault.Usage("choose one of them", "--build and --download are two ways to the same end")
			case cmd.Flags().Changed("index") && !download:
				return fault.Usage("add --download", "--index says where to download from")
			case build:
				dir, err = store.Ensure(cmd.Context(), version, false, a.Progress)
			case download:
				dir, err = store.Download(cmd.Context(), version, index, a.Progress)
			default:
				dir, err = store.Path(version)
			}
			return printPath(a, dir, err)
		},
	}
	bindKubernetes(cmd, &version)
	cmd.Flags().BoolVar(&build, "build", false, "build what is missing first, from Go modules")
	cmd.Flags().BoolVar(&download, "download", false, "download what is missing first, as setup-envtest does")
	cmd.Flags().StringVar(&index, "index", assets.DefaultIndex, "URL of the list of downloads")
	command.CompleteFlag(cmd, "index", cobra.NoFileCompletions)
	return cmd
}

// printPath prints a folder with forward slashes, for make and sh eat others.
func printPath(a *command.App, dir string, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Out, filepath.ToSlash(dir))
	return err
}

func bindKubernetes(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "k8s-version", "", "version of Kubernetes, such as 1.37 or 1.37.1 (default: "+pins.Kubernetes+")")
	command.CompleteValues(cmd, "k8s-version", pins.Kubernetes)
}
