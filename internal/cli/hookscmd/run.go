package hookscmd

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/clusterflags"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/operator"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watch"
	"github.com/spf13/cobra"
)

// runOptions holds the flags of operon hooks run.
type runOptions struct {
	folder  string
	where   clusterflags.Flags
	engine  string
	host    string
	port    int
	timeout time.Duration
}

func newRun(a *command.App) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run hooks against a cluster, and reload them when you save",
		Long: `Run the hooks as shell-operator does, against the cluster of a kubeconfig. Each
run of a hook is reported on one line, followed by its output. This is for
development: hooks run on your machine with the permissions of the kubeconfig,
and change the cluster. Press Ctrl-C to stop it.

When you save a hook, operon reloads it; if its new configuration is invalid,
the last valid one stays active. When another file changes, such as a library,
all hooks are reloaded. Hooks get your environment, with KUBECONFIG for the
cluster.

Webhooks are registered with an address of this machine, and removed at the end,
or by the next run if this one is killed; only one run in a cluster can have
webhooks. The API server must be able to reach the address: one in a container
cannot reach 127.0.0.1 of its host, so use --webhook-host.

To run with the permissions in config/rbac, write a kubeconfig for the
ServiceAccount of the project with operon hooks kubeconfig.

Requests are limited as in the engine: operations and watches each to 5 per
second after a burst of 10, operations also to 10 seconds. The variables
OBJECT_PATCHER_KUBE_CLIENT_QPS, _BURST and _TIMEOUT (operations),
KUBE_CLIENT_QPS and KUBE_CLIENT_BURST (watches) of your environment change the
limits.

--engine runs a shell-operator program instead of operon's own implementation;
restart it to see changes.`,
		Example: `  export KUBECONFIG="$(operon envtest start --detach)"
  operon hooks run
  operon hooks run --context kind-dev --webhook-host 172.18.0.1
  operon hooks run --engine ~/bin/shell-operator`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := cmd.Flags()
	o.where.Bind(a, cmd)
	o.where.BindNamespace(cmd, "", "namespace for objects without one (default: the namespace of the context)")
	f.StringVar(&o.host, "webhook-host", "", "name or `address` at which the API server reaches this machine (default: the address of this machine on the route to it)")
	f.IntVar(&o.port, "webhook-port", 0, "port for webhooks (default: a free one)")
	f.StringVar(&o.engine, "engine", "", "`path` of a shell-operator program to run instead")
	bindHooksFolder(cmd, &o.folder)
	bindConfigTimeout(cmd, &o.timeout)
	command.CompleteNothing(cmd, "webhook-host", "webhook-port")
	return cmd
}

// Run runs the hooks of a project, for operon run.
func Run(ctx context.Context, a *command.App, where clusterflags.Flags) error {
	o := &runOptions{folder: defaultFolder, where: where, timeout: configTimeout}
	return o.run(ctx, a)
}

func (o *runOptions) checkFlags() error {
	if o.port < 0 || o.port > 65535 {
		return fault.Usage("omit the flag to use a free port", "--webhook-port %d is not between 1 and 65535", o.port)
	}
	return checkTimeout(o.timeout, "10s")
}

func (o *runOptions) run(ctx context.Context, a *command.App) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if err := o.enterProject(a); err != nil {
		return err
	}
	dir, err := shellHooksFolder(a, o.folder, "test them with operon hooks test; to run them in a cluster, use addon-operator")
	if err != nil {
		return err
	}
	program, err := o.findEngine(a)
	if err != nil {
		return err
	}
	_, webhooks, err := projectAround(a, hookproject.Root(dir))
	if err != nil {
		return err
	}
	c, err := openClients(o.where.Options(a), a.Getenv, webhooks)
	if err != nil {
		return err
	}
	r, closeHooks, err := o.openHooks(a, dir)
	if err != nil {
		return err
	}
	defer closeHooks()
	loaded, err := o.load(ctx, a, r)
	if err != nil {
		return err
	}
	version, err := c.admin.ServerVersion(ctx)
	if err != nil {
		return err
	}
	home, err := c.admin.NewKubeconfigDir()
	if err != nil {
		return fault.Failed("", "cannot create a folder for the kubeconfig of hooks: %v", err)
	}
	defer home.Remove()
	a.Notef("%s on %s (context %s, Kubernetes %s), press Ctrl-C to stop", command.Plural(len(loaded), "hook"), c.admin.Server, c.admin.Context, version)
	env := slices.Concat(a.Environ, r.Sandbox.LibraryEnv(), home.Env())
	if program != "" {
		err = operator.Program{
			Path: program, Hooks: dir, Cluster: c.follow, Home: home, Env: env, Host: o.host, Port: o.port, Out: a.Out, Err: a.Err,
			Warn: func(err error) { a.Warnf("%v", err) },
		}.Run(ctx, loaded)
	} else {
		err = o.runHooks(ctx, a, c, r, env, loaded)
	}
	if err == nil {
		a.Notef("stopped")
	}
	return err
}

// enterProject makes the project root the working folder, unless --hooks is set.
func (o *runOptions) enterProject(a *command.App) error {
	if o.folder != defaultFolder {
		return nil
	}
	paths := []*string{&o.where.Kubeconfig}
	if strings.ContainsRune(o.engine, filepath.Separator) { // a path, not the name of a program in PATH
		paths = append(paths, &o.engine)
	}
	return enterProject(a, paths...)
}

// openHooks opens the hooks in a folder, and watches the folder. The caller calls the
// returned function at the end.
func (o *runOptions) openHooks(a *command.App, dir string) (*operator.Reloader, func(), error) {
	sandbox, err := hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout)
	if err != nil {
		return nil, nil, err
	}
	watcher, err := watch.Open(dir, func(string) bool { return true })
	if err != nil {
		sandbox.Close()
		return nil, nil, err
	}
	watcher.Modes = true // hooks are executable
	r := &operator.Reloader{
		Dir: dir, Folder: o.folder, Sandbox: sandbox, Watcher: watcher, Note: a.Notef,
		Print: func(f []finding.Finding) error { return o.printErrors(a, f) },
	}
	return r, func() { _ = watcher.Close(); sandbox.Close() }, nil
}

// runHooks runs the hooks with operon's own implementation of the engine.
func (o *runOptions) runHooks(ctx context.Context, a *command.App, c clients, r *operator.Reloader, env []string, loaded []engine.Hook) error {
	err := r.Run(ctx, &operator.Operator{
		Cluster: c.follow, Patcher: c.patch, Runner: engine.Runner{Env: env}, Host: o.host, Port: o.port, Now: a.Now,
		Report: func(run operator.Run) {
			_, _ = a.Out.Write([]byte(run.Text(command.Painter(a.Out, a.Getenv)))) // ignore a closed stdout
		},
		Warn: func(hook string, err error) { a.Warnf("%s: %v", cmp.Or(hook, "webhooks"), err) },
	}, loaded)
	if err == nil && term.IsTerminal(a.Err) {
		a.Notef("") // ends the line on which the terminal shows ^C
	}
	return err
}

// clients are connections to one cluster with different request limits.
type clients struct {
	admin  *cluster.Cluster // for operon itself
	follow *cluster.Cluster // for informers
	patch  *cluster.Cluster // for patches
}

// openClients connects to a cluster. webhooks is the engine's name of webhook configurations,
// or "" for its default.
func openClients(where cluster.ClientOptions, getenv func(string) string, webhooks string) (clients, error) {
	var c clients
	follow, patch, err := cluster.EngineLimits(getenv)
	if err != nil {
		return c, err
	}
	if c.admin, err = cluster.Open(where, getenv); err != nil {
		return c, err
	}
	if webhooks != "" {
		c.admin.WebhookConfiguration = webhooks + "-hooks"
	}
	if c.follow, err = c.admin.Limited(follow); err != nil {
		return c, err
	}
	c.patch, err = c.admin.Limited(patch)
	return c, err
}

// load loads the hooks. It fails if the engine would not start with them.
func (o *runOptions) load(ctx context.Context, a *command.App, r *operator.Reloader) ([]engine.Hook, error) {
	loaded, findings, err := r.Load(ctx)
	if err != nil {
		return nil, explainNoHooks(a, err)
	}
	if errs := finding.Errors(findings); len(errs) > 0 {
		if err := o.printErrors(a, errs); err != nil {
			return nil, err
		}
		return nil, verdict(hookproject.Validation{Hooks: 1, Findings: errs})
	}
	if len(findings) > 0 {
		a.Notef("%s: run operon hooks validate to see them", command.Plural(len(findings), "warning"))
	}
	return loaded, nil
}

// printErrors prints findings about files in the folder of hooks.
func (o *runOptions) printErrors(a *command.App, findings []finding.Finding) error {
	shown := finding.InFolder(filepath.ToSlash(o.folder), findings)
	return printValidation(a, command.FormatText, hookproject.Validation{Findings: shown})
}

// findEngine returns the program that --engine specifies by path or by name in PATH, or ""
// without --engine.
func (o *runOptions) findEngine(a *command.App) (string, error) {
	path := o.engine
	if path == "" {
		return "", nil
	}
	if strings.ContainsRune(path, filepath.Separator) {
		path = hookproject.Abs(a.Dir, path)
	}
	found, err := environ.LookPath(a.Environ, path)
	if err != nil {
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		return "", fault.Usage("name a program built from github.com/flant/shell-operator/cmd/shell-operator", "--engine %s: %v", o.engine, err)
	}
	return found, nil
}
