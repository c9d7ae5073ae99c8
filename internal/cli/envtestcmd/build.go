package envtestcmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

func newBuild(a *command.App) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the control plane from Go modules",
		Long: `Build etcd, kube-apiserver, kube-controller-manager and kubectl from their Go
modules into the per-user store, and print the folder. Programs that are
installed are not built again. The first build takes a few minutes and needs Go
and a module proxy. operon builds only Kubernetes ` + pins.Kubernetes + `; operon envtest path
--download installs other versions.`,
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
	bindVersion(cmd, &version)
	return cmd
}
