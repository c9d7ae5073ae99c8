package envtestcmd

import (
	"context"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

func newStop(a *command.App) *cobra.Command {
	var name string
	var all bool
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop a control plane and remove its files",
		Long: `Stop a control plane that ` + "`operon envtest start`" + ` started, and remove its files.
If it is not running, the command does nothing and exits with code 0.`,
		Example: `  operon envtest stop
  operon envtest stop --all`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all && cmd.Flags().Changed("name") {
				return fault.Usage("leave one of them out", "--name and --all exclude each other")
			}
			names := []string{name}
			home, err := controlplane.Open(a.Getenv)
			if err != nil {
				return err
			}
			if all {
				if names, err = controlPlaneNames(home); err != nil {
					return err
				}
			}
			return stopControlPlanes(a, cmd.Context(), home, names)
		},
	}
	bindName(cmd, &name)
	cmd.Flags().BoolVar(&all, "all", false, "stop all your control planes")
	return cmd
}

func controlPlaneNames(home *controlplane.Home) ([]string, error) {
	all, err := home.List()
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, err
}

func stopControlPlanes(a *command.App, ctx context.Context, home *controlplane.Home, names []string) error {
	stopped := 0
	for _, name := range names {
		if err := controlplane.CheckName(name); err != nil {
			return err
		}
		s, there, err := home.Stop(ctx, name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		stopped++
		switch s.Phase {
		case controlplane.Failed, controlplane.Dead:
			a.Notef("removed what control plane %q left behind", name)
		default:
			a.Notef("stopped control plane %q", name)
		}
		if filepath.ToSlash(a.Getenv("KUBECONFIG")) == filepath.ToSlash(s.Kubeconfig) {
			a.Notef("KUBECONFIG still names it: unset KUBECONFIG")
		}
	}
	if stopped == 0 {
		a.Notef("nothing to stop")
	}
	return nil
}
