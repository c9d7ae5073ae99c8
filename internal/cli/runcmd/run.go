// Package runcmd implements operon run, which runs the operator of a project on this machine.
package runcmd

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/clusterflags"
	"github.com/operon-dev/operon/internal/cli/command/manager"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/watch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Parts is what other packages do for operon run.
type Parts struct {
	// Hooks runs the hooks of a project until ctx ends.
	Hooks func(ctx context.Context, a *command.App, where clusterflags.Flags) error
	// NewGenerator returns a function that runs operon generate, and reports on stderr what is new
	// since its last call.
	NewGenerator func(cmd *cobra.Command, a *command.App) func(command.Project) error
	// ChartRuntime returns the Go module that runs the charts of a project that has none, by path.
	// It has no files if the project has its own module, in the folder runtime.
	ChartRuntime func(*project.Config) (map[string][]byte, error)
	// Commands are the subcommands.
	Commands []*cobra.Command
}

// options holds the flags of operon run.
type options struct {
	Parts
	where clusterflags.Flags
	cmd   *cobra.Command

	install bool
}

// New returns the command run.
func New(a *command.App, parts Parts) *cobra.Command {
	o := &options{Parts: parts}
	o.cmd = &cobra.Command{
		Use:   "run [flags] [-- flags of the manager]",
		Short: "Run the operator on this machine, and restart it on each save",
		Long: `Run the operator of the project on this machine, against the cluster of a
kubeconfig, with the permissions of the kubeconfig. This is for development.
Press Ctrl-C to stop it. The operator starts when the cluster has its CRDs: use
--install, or make install. A warning names those that the cluster lacks, or has
with another schema.

In a Go project, generate as operon generate does, build bin/manager, and run
it. When you save a source, do this again; if it does not build, the previous
manager keeps running. If the manager ends, the next save starts it again.

In a Helm project, run the charts with the program in runtime, or, if the
project uses an image, with the same program, built for this run. It needs Go.
When you save a chart or watches.yaml, generate, and restart.

In a hook project, do the same as operon hooks run.

A control plane of operon envtest start calls the webhooks of a Go project. With
another cluster, which cannot call them, the manager runs without webhooks.`,
		Example: `  export KUBECONFIG="$(operon envtest start --detach --controllers)"
  operon run --install
  operon run --context kind-dev -- --zap-log-level=debug
  operon run bundle registry.example.org/fleet-bundle:v0.1.0 -n fleet-system`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash != 0 && len(args) > 0 {
				return command.GroupHelp(cmd, args)
			}
			return o.run(cmd.Context(), a, args)
		},
	}
	o.where.Bind(a, o.cmd)
	o.cmd.Flags().BoolVar(&o.install, "install", false, "install the CRDs, also after changes, and apply config/samples once")
	o.cmd.AddCommand(parts.Commands...)
	o.cmd.SetUsageTemplate(command.RunnableTemplate(o.cmd))
	o.cmd.SetFlagErrorFunc(flagError)
	o.cmd.Flags().VarPF(&helpFlag{cmd: o.cmd}, "help", "h", "help for run").NoOptDefVal = "true"
	return o.cmd
}

// helpFlag is the flag --help of a command with subcommands and arguments. After an unknown subcommand,
// it is an error, as in other commands with subcommands.
type helpFlag struct {
	cmd  *cobra.Command
	help bool
}

// Set implements pflag.Value.
func (f *helpFlag) Set(text string) (err error) {
	if f.help, err = strconv.ParseBool(text); err != nil {
		return err
	}
	if args := f.cmd.Flags().Args(); f.help && len(args) > 0 {
		return command.GroupHelp(f.cmd, args)
	}
	return nil
}

// String implements pflag.Value.
func (f *helpFlag) String() string { return strconv.FormatBool(f.help) }

// Type implements pflag.Value. cobra reads a bool.
func (f *helpFlag) Type() string { return "bool" }

// flagError explains that an unknown flag may be one of the manager.
func flagError(cmd *cobra.Command, err error) error {
	if explained, ok := errors.AsType[*fault.Error](err); ok { // of helpFlag
		return explained
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && cmd.HasSubCommands() && len(cmd.Flags().Args()) == 0 && command.NearestFlag(unknown.GetSpecifiedName(), cmd) == "" {
		return fault.Usage("put flags of the manager after --, as in: operon run -- --zap-log-level=debug", "%s", err)
	}
	return command.FlagError(cmd, err)
}

// run runs the operator until ctx ends, or until the project is gone.
func (o *options) run(ctx context.Context, a *command.App, args []string) error {
	p, err := a.OpenProject()
	if err != nil {
		return err
	}
	if a.HasHooks(p.Config) || a.HasModules(p.Config) {
		if len(args) > 0 {
			return fault.Usage("omit them; operon hooks run has more flags", "hooks have no manager that the arguments after -- could be for")
		}
		if o.install {
			return fault.Usage("run make install first", "--install is for projects with a manager, and this project has hooks")
		}
		return o.Hooks(ctx, a, o.where)
	}
	o.where.ClientOptions = o.where.Options(a)
	c, err := cluster.Open(o.where.ClientOptions, a.Getenv)
	if err != nil {
		return err
	}
	version, err := c.ServerVersion(ctx)
	if err != nil {
		return err
	}
	home, err := c.NewKubeconfigDir() // so that a restart does not follow another current context
	if err != nil {
		return fault.Failed(command.HintTemp, "cannot create a folder for the kubeconfig of the operator: %v", err)
	}
	defer home.Remove()
	at := a.At(p.Root)
	at.Environ = environment(a, p.Config, home.Kubeconfig())
	prog, err := o.programOf(at, p)
	if err != nil {
		return err
	}
	defer prog.remove()
	prog.args = append(prog.args, args...)
	a.Notef("running the operator on %s (context %s, Kubernetes %s), press Ctrl-C to stop", c.Server, c.Context, version)
	if prog.note != "" {
		a.Warnf("%s", prog.note)
	}
	off, err := manager.Unreachable(at, p, prog.args)
	if err != nil {
		return err
	}
	if off {
		at.Environ = append(at.Environ, manager.NoWebhooks)
		a.Notef("webhooks are off, because this cluster cannot call them on this machine")
	}
	return o.watch(ctx, at, c, prog)
}

// programOf returns the program that runs a project.
func (o *options) programOf(a *command.App, p command.Project) (*program, error) {
	if a.HasCharts(p.Config) {
		return o.chartProgram(a, p)
	}
	return goProgram(p.Root, p.Config)
}

// watch runs a program and restarts it, until ctx ends.
func (o *options) watch(ctx context.Context, a *command.App, c *cluster.Cluster, prog *program) error {
	watcher, err := watch.Open(a.Dir, func(path string) bool { return prog.counts(path) })
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	watcher.Modes = true // touch starts an operator that ended
	l := &loop{
		App: a, program: prog, generate: o.NewGenerator(o.cmd, a), watcher: watcher,
		cluster: c, install: o.install, byHand: o.installCommand(),
	}
	if err := l.run(ctx); err != nil {
		return err
	}
	a.Notef("stopped")
	return nil
}

// installCommand says how to install the CRDs into the cluster of the flags, which make does not have.
func (o *options) installCommand() string {
	text := "make install"
	if o.where.Kubeconfig != "" {
		text = "KUBECONFIG=" + shellquote.Join(o.where.Kubeconfig) + " " + text
	}
	if o.where.Context != "" {
		text += ", with " + o.where.Context + " as the current context"
	}
	return text
}

// environment returns the environment of the operator.
func environment(a *command.App, c *project.Config, kubeconfig string) []string {
	env := append(slices.Clone(a.Environ), "KUBECONFIG="+kubeconfig)
	if c.Namespaced && a.Getenv(watchNamespace) == "" {
		env = append(env, watchNamespace+"="+c.Namespace())
	}
	return env
}

// watchNamespace is the variable that names the namespaces which an operator watches.
const watchNamespace = "WATCH_NAMESPACE"
