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
				return fault.Usage("remove one of the flags", "--name and --all cannot be combined")
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
			if names, err = stopControlPlanes(a, cmd.Context(), home, names); err != nil || len(names) > 0 {
				return err
			}
			return noteOthers(a, home)
		},
	}
	bindName(cmd, &name, existingNames(a))
	cmd.Flags().BoolVar(&all, "all", false, "stop all your control planes")
	return cmd
}

// existingNames returns a function that lists the control planes for completion.
func existingNames(a *command.App) func() []string {
	return func() []string {
		home, err := controlplane.Open(a.Getenv)
		if err != nil {
			return nil
		}
		names, _ := controlPlaneNames(home) // completion offers what it can
		return names
	}
}

func controlPlaneNames(home *controlplane.Home) ([]string, error) {
	all, err := home.List()
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, err
}

// stopControlPlanes stops the named control planes and returns the names of those that
// existed.
func stopControlPlanes(a *command.App, ctx context.Context, home *controlplane.Home, names []string) (stopped []string, err error) {
	for _, name := range names {
		if err := controlplane.CheckName(name); err != nil {
			return stopped, err
		}
		s, exists, err := home.Stop(ctx, name)
		if err != nil {
			return stopped, err
		}
		if !exists {
			continue
		}
		stopped = append(stopped, name)
		switch s.Phase {
		case controlplane.Failed, controlplane.Dead:
			a.Notef("removed the files of control plane %q", name)
		default:
			a.Notef("stopped control plane %q", name)
		}
		if filepath.ToSlash(a.Getenv("KUBECONFIG")) == filepath.ToSlash(s.Kubeconfig) {
			a.Notef("KUBECONFIG still names it: unset KUBECONFIG")
		}
	}
	return stopped, nil
}

// noteOthers reports that there was nothing to stop, and how to stop other control planes.
func noteOthers(a *command.App, home *controlplane.Home) error {
	others, err := home.List()
	if err != nil {
		return err
	}
	a.Notef("nothing to stop")
	for _, s := range others {
		a.Notef("to stop control plane %q (%s): operon envtest stop%s", s.Name, s.Phase, nameFlag(s.Name))
	}
	return nil
}
