package envtestcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
)

type startOptions struct {
	options controlplane.Options
	version string
	detach  bool
}

func newStart(a *command.App) *cobra.Command {
	var c startOptions
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a control plane on this machine",
		Long: `Start etcd and kube-apiserver on 127.0.0.1, wait until they are ready, and print
the path of a kubeconfig with administrator access. TLS and RBAC are enabled,
the token is random, and only you can read the files. Programs that are not
installed are built.

Ctrl-C stops the control plane, removes its files and exits with code 0. With
--detach, it runs until ` + "`operon envtest stop`" + `; a second start with the same
flags only prints the path. A program that exits is restarted on the same port
with the same data.

There are no nodes and no scheduler, so pods stay pending. With --controllers,
kube-controller-manager creates the pods of workloads, collects garbage and
empties deleted namespaces.

If operon is killed, its programs end too. On macOS, they can keep running until
the next start or stop.`,
		Example: `  operon envtest start
  export KUBECONFIG="$(operon envtest start --detach --controllers)"`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.start(cmd.Context(), a) },
	}
	cmd.Flags().BoolVar(&c.detach, "detach", false, "return when the control plane is ready, and leave it running")
	cmd.Flags().BoolVar(&c.options.Controllers, "controllers", false, "also run kube-controller-manager")
	cmd.Flags().IntVar(&c.options.Port, "port", 0, "port of the API server (default: a free one)")
	bindName(cmd, &c.options.Name, func() []string { return nil })
	bindVersion(cmd, &c.version)
	return cmd
}

func (c *startOptions) start(ctx context.Context, a *command.App) error {
	if err := controlplane.CheckName(c.options.Name); err != nil {
		return err
	}
	if c.options.Port < 0 || c.options.Port > 65535 {
		return fault.Usage("omit --port for a free port", "port %d is not between 1 and 65535", c.options.Port)
	}
	home, err := controlplane.Open(a.Getenv)
	if err != nil {
		return err
	}
	store, err := assets.Open(assets.Options{Env: a.Environ})
	if err != nil {
		return err
	}
	c.options.Assets, err = store.Ensure(ctx, c.version, c.options.Controllers, a.Progress)
	if err != nil {
		return err
	}
	if term.IsTerminal(a.Err) {
		a.Notef("%s", command.Painter(a.Err, a.Getenv)(term.Faint, fmt.Sprintf("starting control plane %q", c.options.Name)))
	}
	start := time.Now()
	s, err := home.Start(ctx, c.options, []string{a.Program, "envtest", "keep"}, a.Environ, a.Progress)
	if err != nil {
		return err
	}
	if s.Already {
		return c.reportRunning(a, s.State)
	}
	a.Notef("ready in %.1f s: %s (Kubernetes %s)", time.Since(start).Seconds(), s.State.URL, s.State.Version)
	if c.detach {
		if err := s.Detach(); err != nil {
			return err
		}
	}
	if err := printPath(a, s.State.Kubeconfig, nil); err != nil {
		return err
	}
	stop := "operon envtest stop" + nameFlag(s.State.Name)
	if !c.detach {
		stop = "Ctrl-C, or " + stop
	}
	a.Notef("to use it:  %s\nto stop it: %s", exportKubeconfig(s.State), stop)
	if c.detach {
		return nil
	}
	err = s.Wait(ctx)
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		a.Notef("stopped")
		return nil
	}
	return err
}

// reportRunning reports a control plane that is already running. It is an error if the
// control plane differs from the options, or if the command would have to stop it.
func (c *startOptions) reportRunning(a *command.App, s controlplane.State) error {
	hint := "stop it first (operon envtest stop" + nameFlag(s.Name) + "), or choose another --name"
	unmet := c.options.Unmet(s)
	switch {
	case unmet != "":
		return fault.Failed(hint, "control plane %q is already running, %s", s.Name, unmet)
	case !c.detach:
		return fault.Failed("use it ("+exportKubeconfig(s)+"), "+hint, "control plane %q is already running", s.Name)
	}
	a.Notef("control plane %q is already running: %s", s.Name, s.URL)
	return printPath(a, s.Kubeconfig, nil)
}
