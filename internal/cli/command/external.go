package command

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/external"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// externalPlugins is what a command line says about plugins that are programs.
type externalPlugins struct {
	flags map[*cobra.Command]*PluginFlags // of the commands with flags of plugins

	cmd   *cobra.Command // that runs
	args  []string       // of cmd
	named []string       // the values of --plugins
	help  bool           // --help
	yes   bool           // the user agrees to what the command would ask: see allow
}

// InstallNamed prepares a command line for the external plugins that it needs before its flags are
// parsed: those that --plugins names, and if the command line has an unknown flag or asks for help,
// the project's, which may have the flag.
func (a *App) InstallNamed(ctx context.Context, root *cobra.Command, args []string) error {
	x := &a.external
	if !x.parse(root, args) {
		return nil // the command reports its own errors
	}
	if err := a.install(ctx, x.named); err != nil {
		return err
	}
	if err := a.checkInstalled(ctx, x.named); err != nil {
		return err
	}
	event := x.flags[x.cmd].event
	if !x.help && !slices.ContainsFunc(x.args, isUnknown(x.cmd)) {
		return nil
	}
	names := slices.Clone(x.named)
	if len(names) == 0 || event == plugin.Edit {
		if p, err := a.OpenAnyProject(); err == nil {
			recorded := recordedPlugins(p.Config)
			if err := a.install(ctx, recorded); err != nil {
				return err
			}
			names = append(names, recorded...)
		}
	}
	installed := slices.DeleteFunc(slices.Clone(a.Catalogue), func(l plugin.Entry) bool {
		return !l.External || !slices.Contains(names, l.Key) && !slices.Contains(names, l.Short)
	})
	for _, l := range installed {
		if err := a.unlessHelp(ctx, l.Key, x.flags[x.cmd].bindExternal(ctx, l, x.help)); err != nil {
			return err
		}
	}
	return nil
}

// unlessHelp returns the error of a plugin. For help, which works with any plugin, it prints a note instead.
func (a *App) unlessHelp(ctx context.Context, name string, err error) error {
	if err == nil || !a.external.help || ctx.Err() != nil {
		return err
	}
	a.Notef("note: the flags of the plugin %s are missing here: %v", name, err)
	return nil
}

// recordedPlugins returns the keys in PROJECT that can belong to external plugins.
func recordedPlugins(c *project.Config) []string {
	keys := slices.AppendSeq(slices.Clone(c.Layout), maps.Keys(c.Plugins))
	keys = slices.DeleteFunc(keys, func(key string) bool { return !external.CanBe(key) })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// install adds the installed plugins among these keys or names to the layouts.
func (a *App) install(ctx context.Context, names []string) error {
	for _, name := range a.Catalogue.Unknown(slices.Values(names)) {
		if err := a.unlessHelp(ctx, name, a.installOne(name)); err != nil {
			return err
		}
	}
	return nil
}

// checkInstalled returns an error for an unknown name that is similar to the name of an installed plugin.
func (a *App) checkInstalled(ctx context.Context, names []string) error {
	for _, name := range a.Catalogue.Unknown(slices.Values(names)) {
		near := fault.Nearest(name, a.InstalledPlugins())
		if near == "" || near == name {
			continue
		}
		if err := a.unlessHelp(ctx, name, fault.Usage("did you mean "+near+"?", "unknown plugin %q", name)); err != nil {
			return err
		}
	}
	return nil
}

// pluginFolder returns the folder of installed plugins.
func (a *App) pluginFolder() external.Folder { return external.InstallFolder(a.Getenv, a.Dir) }

// InstalledPlugins returns the keys of the plugins that the user has installed, for completion.
func (a *App) InstalledPlugins() []string { return a.pluginFolder().Keys() }

// installOne adds the plugin with this key or name to the layouts, if it is installed.
func (a *App) installOne(name string) error {
	found, ok, err := a.pluginFolder().Find(name)
	if err != nil || !ok || len(a.Catalogue.Unknown(slices.Values([]string{found.Key()}))) == 0 {
		return err
	}
	p, err := a.externalPlugin(found)
	if err != nil {
		return err
	}
	a.Catalogue = append(a.Catalogue, plugin.Entry{Key: found.Key(), Short: found.Name, External: true, Plugins: plugin.Set{p}})
	return nil
}

// externalPlugin returns an installed plugin.
func (a *App) externalPlugin(found external.Found) (plugin.Plugin, error) {
	limit, err := a.pluginTimeout()
	if err != nil {
		return nil, err
	}
	dir, err := project.FindRoot(a.Dir)
	if err != nil {
		dir = a.Dir
	}
	program := external.Program{
		Found: found, Dir: dir, Env: a.Environ, Stderr: a.Err, Limit: limit,
		Allow: func(ctx context.Context, path, checksum string) error {
			return a.allow(ctx, "Run the plugin", path, checksum)
		},
	}
	requested := slices.ContainsFunc(a.external.named, func(n string) bool { return n == found.Key() || n == found.Name })
	return &external.Plugin{Program: program, Args: kubebuilderArgs(a.external.args), Requested: requested}, nil
}

// pluginTimeout returns how long a plugin may take to respond.
func (a *App) pluginTimeout() (time.Duration, error) {
	text := a.Getenv("OPERON_PLUGIN_TIMEOUT")
	if text == "" {
		return time.Minute, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return 0, fault.Usage("write a number and a unit, such as 30s or 5m", "OPERON_PLUGIN_TIMEOUT is %q", text)
	}
	return limit, nil
}

// ownFlags are the flags of operon that external plugins do not know.
var ownFlags = []string{"plugins", "yes", "dry-run", "diff", "output", "restore", "templates"}

// kubebuilderArgs returns the flags of a command line as kubebuilder passes them on: each flag that starts
// with two dashes, and what follows it unless that is a flag.
func kubebuilderArgs(args []string) []string {
	var passed []string
	for i, arg := range args {
		name, isFlag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if !isFlag || slices.Contains(ownFlags, name) {
			continue
		}
		passed = append(passed, arg)
		if i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			passed = append(passed, args[i+1])
		}
	}
	return passed
}
