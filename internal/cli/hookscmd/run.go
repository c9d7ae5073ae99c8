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
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/shelloperator"
	"github.com/operon-dev/operon/internal/watch"
	"github.com/spf13/cobra"
)

// runOptions holds the flags of operon hooks run.
type runOptions struct {
	folder  string
	where   clusterflags.Flags
	engine  string
	build   bool
	host    string
	port    int
	timeout time.Duration

	record, dryRun, diff bool
	requests             map[string][]rbac.Request // that the hooks sent, by hook; nil without --record
}

func newRun(a *command.App) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run hooks against a cluster, and restart them when you save",
		Long: `Run the hooks with shell-operator on this machine, against the cluster of a
kubeconfig. This is for development: hooks run with the permissions of the
kubeconfig, and change the cluster. Press Ctrl-C to stop it.

The program is the one of --engine, shell-operator in PATH, or the one that
--build builds from Go modules for this user. The build takes minutes, once.

When you save a file in the folder of hooks, shell-operator restarts, so hooks
with onStartup and Synchronization run again. If a configuration is invalid, the
hooks run on without the change. Hooks get your environment, with KUBECONFIG for
the cluster. With LOG_TYPE=json, you get the whole log of shell-operator.

Webhooks are registered with an address of this machine while shell-operator
runs; the next run removes what a killed one left. Only one run in a cluster can
have webhooks. The API server must be able to reach the address: one in a
container cannot reach 127.0.0.1 of its host, so use --webhook-host.

--record adds markers when you stop the run: for each request that a hook sent
with its KUBECONFIG, or for a patch operation, and that no RBAC rule allows. To
run with the permissions in config/rbac, use operon hooks kubeconfig.`,
		Example: `  export KUBECONFIG="$(operon envtest start --detach)"
  operon hooks run --build
  operon hooks run --context kind-dev --webhook-host 172.18.0.1
  operon hooks run --engine ~/bin/shell-operator
  operon hooks run --record --diff`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.start(cmd, a) },
	}
	f := cmd.Flags()
	o.where.Bind(a, cmd)
	o.where.BindNamespace(cmd, "", "namespace for objects without one (default: the namespace of the context)")
	f.StringVar(&o.host, "webhook-host", "", "name or `address` at which the API server reaches this machine (default: the address of this machine on the route to it)")
	f.IntVar(&o.port, "webhook-port", 0, "port for admission webhooks; conversion uses the next one (default: free ones)")
	f.StringVar(&o.engine, "engine", "", "`path` of the shell-operator to run")
	f.BoolVar(&o.build, "build", false, "build shell-operator if this has not been done")
	f.BoolVar(&o.record, "record", false, "at the end, add markers for the requests of hooks that no RBAC rule allows")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --record: show the markers without writing them")
	f.BoolVar(&o.diff, "diff", false, "with --record: show the markers as a unified diff, without writing them")
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
	if o.port < 0 || o.port > 65534 {
		return fault.Usage("omit the flag to use free ports", "--webhook-port %d is not between 1 and 65534", o.port)
	}
	if o.engine != "" && o.build {
		return fault.Usage("omit one of them", "--engine names the program, so there is nothing to --build")
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
	if err := o.checkEngine(a); err != nil {
		return err
	}
	root := hookproject.Root(dir)
	_, webhooks, err := projectAround(a, root)
	if err != nil {
		return err
	}
	c, err := cluster.Open(o.where.Options(a), a.Getenv)
	if err != nil {
		return err
	}
	sandbox, watcher, closeBoth, err := o.open(a, dir)
	if err != nil {
		return err
	}
	defer closeBoth()
	loaded, err := o.load(ctx, a, dir, sandbox)
	if err != nil {
		return err
	}
	version, err := c.ServerVersion(ctx)
	if err != nil {
		return err
	}
	engine, err := o.findEngine(ctx, a)
	if err != nil {
		return err
	}
	home, err := c.NewKubeconfigDir()
	if err != nil {
		return fault.Failed("set TMPDIR to a folder that you can write to", "cannot create a folder for the kubeconfig of hooks: %v", err)
	}
	defer home.Remove()
	a.Notef("%s on %s (context %s, Kubernetes %s) with %s, press Ctrl-C to stop", command.Plural(len(loaded), "hook"), c.Server, c.Context, version, engine)
	l := hooksLoop{
		App: a.At(dir), watcher: watcher, load: func(ctx context.Context) ([]*config.Config, error) { return o.load(ctx, a, dir, sandbox) },
		program: shelloperator.Program{
			Path: engine, Dir: root, Hooks: dir, Cluster: c, Home: home,
			Webhooks: cmp.Or(webhooks, shelloperator.DefaultWebhooks), Host: o.host, Port: o.port,
			Env: slices.Concat(a.Environ, sandbox.LibraryEnv(), home.Env()), Out: a.Out, JSON: a.Getenv("LOG_TYPE") == "json",
			Warn: func(err error) { a.Warnf("%v", err) },
		},
	}
	if err := o.untilStopped(ctx, a, l, loaded); err != nil {
		return err
	}
	a.Notef("stopped")
	return nil
}

// open prepares running hooks with --config, and watches their folder. The caller calls the returned function at the end.
func (o *runOptions) open(a *command.App, dir string) (*hooks.Sandbox, *watch.Watcher, func(), error) {
	sandbox, err := hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout)
	if err != nil {
		return nil, nil, nil, err
	}
	watcher, err := watch.Open(dir, func(path string) bool { return !watch.IsScratch(path) })
	if err != nil {
		sandbox.Close()
		return nil, nil, nil, err
	}
	watcher.Modes = true // hooks are executable
	return sandbox, watcher, func() { _ = watcher.Close(); sandbox.Close() }, nil
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

// load returns the configurations of all hooks. It fails if shell-operator would not start with them.
func (o *runOptions) load(ctx context.Context, a *command.App, dir string, sandbox *hooks.Sandbox) ([]*config.Config, error) {
	found, err := hookproject.Discover(dir, o.folder)
	if err != nil {
		return nil, explainNoHooks(a, err)
	}
	for _, h := range found {
		if hooks.Command(h.Path)[0] != h.Path {
			return nil, fault.Usage("chmod +x "+filepath.Join(o.folder, h.Name), "%s is executable only in the image, and here shell-operator would ignore it", h.Name)
		}
	}
	configs, findings, err := hooks.Load(ctx, sandbox, found)
	if err != nil {
		return nil, err
	}
	if errs := finding.Errors(findings); len(errs) > 0 {
		shown := finding.InFolder(filepath.ToSlash(o.folder), errs)
		if err := printValidation(a, command.FormatText, hookproject.Validation{Findings: shown}); err != nil {
			return nil, err
		}
		return nil, verdict(hookproject.Validation{Hooks: 1, Findings: errs})
	}
	if len(findings) > 0 {
		a.Notef("%s: run operon hooks validate to see them", command.Plural(len(findings), "warning"))
	}
	return configs, nil
}

// checkEngine finds the program of --engine, and keeps its path.
func (o *runOptions) checkEngine(a *command.App) error {
	if o.engine == "" {
		return nil
	}
	path := o.engine
	if strings.ContainsRune(path, filepath.Separator) {
		path = hookproject.Abs(a.Dir, path)
	}
	found, err := environ.LookPath(a.Environ, path)
	if err != nil {
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		return fault.Usage("name a program built from github.com/flant/shell-operator/cmd/shell-operator", "--engine %s: %v", o.engine, err)
	}
	o.engine = found
	return nil
}

// findEngine returns the path of shell-operator, and builds it for --build.
func (o *runOptions) findEngine(ctx context.Context, a *command.App) (string, error) {
	switch {
	case o.engine != "":
		return o.engine, nil
	case o.build:
		return shelloperator.Build(ctx, a.Environ, a.Progress)
	}
	return shelloperator.Find(a.Environ)
}
