package envtestcmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/manager"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

func newRun(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG...]",
		Short: "Run a manager whose webhooks a control plane calls",
		Long: `Run the manager of a Go project on this machine, as make run does. If the
kubeconfig selects a control plane of operon envtest start, the manager gets a
certificate, and the API server calls its webhooks and conversions at port 9443,
or at the port that the argument --webhook-port of the manager names. Install
the CRDs first, with make install.

The registrations are removed at the end, or by the next run if this one is
killed. CRDs stay, with the conversion that they had before.

Another cluster cannot call webhooks on this machine. For it, set
ENABLE_WEBHOOKS=false, or give the manager a certificate with
--webhook-cert-path and register its webhooks yourself.`,
		Example: `  export KUBECONFIG="$(operon envtest start --detach --controllers)"
  make install run
  operon envtest run -- go run ./cmd --zap-devel`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Usage("write it after two dashes: operon envtest run -- bin/manager", "the command of the manager is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.OpenAnyProject()
			if err != nil {
				return err
			}
			return manager.Run(cmd.Context(), a, p, args)
		},
	}
}
