package envtestcmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

func newPath(a *command.App) *cobra.Command {
	var version, index string
	var build, download bool
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print the folder of the control plane",
		Long: `Print the folder with etcd, kube-apiserver and kubectl, for KUBEBUILDER_ASSETS.
--build builds missing programs from Go modules, for Kubernetes ` + pins.Kubernetes + ` only;
--download downloads the same programs as setup-envtest. Without these flags,
nothing is installed.`,
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
				return fault.Usage("remove one of the flags", "--build and --download cannot be combined")
			case cmd.Flags().Changed("index") && !download:
				return fault.Usage("add --download", "--index applies only to downloads")
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
	bindVersion(cmd, &version)
	cmd.Flags().BoolVar(&build, "build", false, "build missing programs from Go modules first")
	cmd.Flags().BoolVar(&download, "download", false, "download missing programs first, as setup-envtest does")
	cmd.Flags().StringVar(&index, "index", assets.DefaultIndex, "URL of the list of downloads")
	command.CompleteNothing(cmd, "index")
	return cmd
}
