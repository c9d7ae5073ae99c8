package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/operator"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watch"
	"github.com/spf13/cobra"
)

// hooksRun holds the flags of `operon hooks run`.
type hooksRun struct {
	dir     string
	where   cluster.Where
	engine  string
	host    string
	port    int
	timeout time.Duration
}

func newHooksRun(a *command.App) *cobra.Command {
	o := &hooksRun{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run hooks on an API server from this machine, and again on every save",
		Long: `Run the hooks as shell-operator would, against the API server of a kubeconfig:
startup, synchronization, events, schedules, queues and groups, patches,
retries, and webhooks over HTTPS. Each run is one line, with what the hook
printed behind it.

A hook that is saved is asked for its configuration again and started anew;
while that is refused its last good configuration goes on. A file that is no
hook, such as a library, starts all of them anew. What the hooks do is done in
the cluster, with the rights of the kubeconfig. Their environment is yours, with
KUBECONFIG set to the chosen context.

Webhooks are registered under the engine's name with an address of this machine,
and taken back at the end, as is the conversion of CRDs, or by the next run if
this one is killed; so in one cluster there can be one run with webhooks at a
time. The API server must reach that address: one in a container does not reach
127.0.0.1 of its host, so name another with --webhook-host.

Requests are as few as the engine's: 5 a second after the first 10 to follow
objects, and as many to patch, each of which may take 10 seconds. To try other
limits set the variables that the engine reads: KUBE_CLIENT_QPS, of which -1 is
no limit, and KUBE_CLIENT_BURST; and for patches OBJECT_PATCHER_KUBE_CLIENT_QPS,
_BURST and _TIMEOUT. What operon asks on its own does not count. Fields that a
conversion gives objects, and that their version does not have, are told once.

This is for development: one process on your machine, which keeps nothing. In
the cluster hooks run in the engine's image. With --engine that program is run
in place of operon's own loop, on the same hooks, cluster and certificates; it
has to be started again to see a change. Ctrl-C ends it.`,
		Example: `  export KUBECONFIG="$(operon envtest start --detach)"
  operon hooks run
  operon hooks run --context kind-dev --webhook-host 172.18.0.1
  operon hooks run --engine ~/bin/shell-operator`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := cmd.Flags()
	bindWhere(a, cmd, &o.where)
	f.StringVar(&o.host, "webhook-host", "", "name or `address` at which the API server finds this machine (default: its address on the way there)")
	f.IntVar(&o.port, "webhook-port", 0, "port to serve webhooks at (default: a free one)")
	f.StringVar(&o.engine, "engine", "", "`path` of a shell-operator program to run instead")
	bindHooks(cmd, &o.dir)
	bindConfigTime(cmd, &o.timeout)
	command.CompleteNothing(cmd, "webhook-host", "webhook-port")
	return cmd
}

// bindWhere adds the flags that choose an API server, as kubectl has them.
func bindWhere(a *command.App, cmd *cobra.Command, w *cluster.Where) {
	f := cmd.Flags()
	f.StringVar(&w.Kubeconfig, "kubeconfig", "", "`file` that says where the API server is (default: KUBECONFIG, or ~/.kube/config)")
	f.StringVar(&w.Context, "context", "", "context in it (default: its current one)")
	f.StringVar(&w.Namespace, "namespace", "", "namespace of what names none (default: that of the context)")
	command.CompleteFrom(cmd, "context", func() []string { return contexts(a, *w) })
	command.CompleteNothing(cmd, "namespace")
}

func (o *hooksRun) validate() error {
	if o.port < 0 || o.port > 65535 {
		return fault.Usage("leave it out for a free one", "--webhook-port %d is not between 1 and 65535", o.port)
	}
	return checkTimeout(o.timeout, "10s")
}

func (o *hooksRun) run(ctx context.Context, a *command.App) error {
	if err := o.validate(); err != nil {
		return err
	}
	dir, err := shellHooks(a, o.dir, "operon hooks test runs them in a cluster in memory; in a real one addon-operator does")
	if err != nil {
		return err
	}
	program := ""
	if o.engine != "" {
		if program, err = o.program(a); err != nil {
			return err
		}
	}
	if o.where.Kubeconfig != "" {
		o.where.Kubeconfig = inDir(a, o.where.Kubeconfig)
	}
	follow, patches, err := cluster.EngineLimits(a.Getenv)
	if err != nil {
		return err
	}
	cluster, err := cluster.Open(o.where, a.Getenv)
	if err != nil {
		return err
	}
	r := &hookRunner{App: a, o: o, dir: dir}
	if r.cluster, err = cluster.Limited(follow); err != nil {
		return err
	}
	if r.patcher, err = cluster.Limited(patches); err != nil {
		return err
	}
	if r.sandbox, err = hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout); err != nil {
		return err
	}
	defer r.sandbox.Close()
	if r.watcher, err = watch.Open(dir, func(string) bool { return true }); err != nil {
		return err
	}
	defer func() { _ = r.watcher.Close() }()
	r.watcher.Modes = true // a hook is executable
	found, err := r.start(ctx)
	if err != nil {
		return err
	}
	version, err := cluster.Reach(ctx)
	if err != nil {
		return err
	}
	home, err := cluster.Home()
	if err != nil {
		return fault.Failed("", "make a folder for the kubeconfig of hooks: %v", err)
	}
	defer home.Remove()
	r.env = append(append(slices.Clone(a.Environ), r.sandbox.Library()...), home.Env()...)
	a.Notef("%s on %s (context %s, Kubernetes %s), Ctrl-C ends", command.Plural(len(found), "hook"), cluster.Server, cluster.Context, version)
	if program != "" {
		return r.runEngine(ctx, home, program, found)
	}
	return r.loop(ctx, found)
}

// hookRunner runs hooks and follows their files.
type hookRunner struct {
	*command.App
	o       *hooksRun
	dir     string
	cluster *cluster.Cluster
	patcher *cluster.Cluster // with limits of its own
	sandbox *hooks.Sandbox
	watcher *watch.Watcher
	env     []string

	operator *operator.Operator
	texts    map[string]string // what each hook was when it was started, by name
	files    map[string]bool   // in the folder when it was last looked at
}

// start asks all hooks for their configuration. Where the engine would refuse to
// start, so does this.
func (r *hookRunner) start(ctx context.Context) ([]engine.Hook, error) {
	found, passed, err := hooks.Discover(r.dir)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noHooksIn(r.App, r.o.dir, passed)
	}
	configured, findings, err := hooks.Load(ctx, r.sandbox, found)
	if err != nil {
		return nil, err
	}
	refused := slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool { return !f.IsError() })
	if len(refused) > 0 {
		if err := printFindings(r.App, "text", judged{hooks: len(found)}, finding.InFolder(r.o.dir, refused)); err != nil {
			return nil, err
		}
		return nil, judged{hooks: len(found)}.verdict(refused)
	}
	if len(findings) > 0 {
		r.Notef("%s: see operon hooks validate", command.Plural(len(findings), "warning"))
	}
	r.texts, r.files = map[string]string{}, filesBelow(r.dir)
	var loaded []engine.Hook
	for i, h := range found {
		r.texts[h.Name] = contentOf(h.Path)
		loaded = append(loaded, engine.Hook{Hook: h, Config: configured[i]})
	}
	return loaded, nil
}

func contentOf(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(content)
}

// loop runs the hooks until the user ends it.
func (r *hookRunner) loop(ctx context.Context, found []engine.Hook) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	r.operator = &operator.Operator{
		Cluster: r.cluster, Patcher: r.patcher, Runner: engine.Runner{Env: r.env}, Host: r.o.host, Port: r.o.port, Now: r.Now, Report: r.tell,
		Trouble: func(hook string, err error) {
			r.Notef("%s %s: %v", command.Painter(r.Err, r.Getenv)(command.Yellow, "warning:"), cmp.Or(hook, "webhooks"), err)
		},
	}
	ran := make(chan error, 1)
	go func() { ran <- r.operator.Run(ctx, found); end() }()
	followed := r.follow(ctx)
	end()
	if err := <-ran; err != nil {
		return err
	}
	if followed != nil {
		return followed
	}
	if term.IsTerminal(r.Err) {
		r.Notef("")
	}
	r.Notef("stopped")
	return nil
}

// tell prints a run.
func (r *hookRunner) tell(run operator.Run) {
	var out strings.Builder
	paint := command.Painter(r.Out, r.Getenv)
	result, colour := resultOf(run)
	if colour != "" {
		result = paint(colour, result)
	}
	head := fmt.Sprintf("%s %8s  ", run.At.Format(time.TimeOnly), command.Duration(run.Spent))
	fmt.Fprintf(&out, "%s%s  %s%s%s\n", paint(command.Faint, head), run.Hook, run.What(), paint(command.Faint, " -> "), result)
	const indent = "                    "
	for _, m := range run.Metrics {
		fmt.Fprintf(&out, "%s%s\n", indent, metricText(m))
	}
	for _, m := range run.Warnings {
		fmt.Fprintf(&out, "%s%s\n", indent, m.Text(paint))
	}
	for _, stream := range [][]byte{run.Stdout, run.Stderr} {
		for line := range strings.Lines(string(stream)) {
			fmt.Fprintf(&out, "%s%s %s\n", indent, paint(command.Faint, "|"), strings.TrimRight(line, "\r\n"))
		}
	}
	_, _ = r.Out.Write([]byte(out.String())) // nobody reads any more
}
