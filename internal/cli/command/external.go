package command

import (
	"cmp"
	"context"
	"errors"
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

const pluginsFlag = "plugins"

// InstallNamed prepares a command line for the external plugins that it needs before its flags are
// parsed: those that --plugins names, and if the command line has an unknown flag or asks for help,
// those of the project, which may have the flag.
func (a *App) InstallNamed(ctx context.Context, root *cobra.Command, args []string) error {
	if len(args) > 1 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	cmd, rest, err := root.Find(args)
	flags := a.flags[cmd]
	a.running, a.args = cmd, rest
	if err != nil || flags == nil {
		return nil // the command reports its own errors
	}
	a.Yes = slices.ContainsFunc(rest, func(arg string) bool { return arg == "--"+yesFlag || arg == "--"+yesFlag+"=true" })
	help := slices.Contains(rest, "--help") || slices.Contains(rest, "-h")
	named := pluginNames(rest)
	if err := cmp.Or(a.install(named), a.checkInstalled(named)); err != nil || !help && !slices.ContainsFunc(rest, isUnknown(cmd)) {
		return err
	}
	if len(named) == 0 {
		if p, err := a.OpenAnyProject(); err == nil {
			if err := a.installRecorded(p.Config); err != nil {
				return err
			}
			named = append(slices.Collect(maps.Keys(p.Config.Plugins)), p.Config.Layout...)
		}
	}
	for _, l := range a.Layouts {
		if !l.External || !slices.ContainsFunc(named, func(n string) bool { return n == l.Key || strings.HasPrefix(l.Key, n+"/") }) {
			continue
		}
		if err := flags.bindExternal(ctx, a, l, help); err != nil {
			return err
		}
	}
	return nil
}

// pluginNames returns the values of --plugins on a command line that is not parsed yet.
func pluginNames(args []string) []string {
	var names []string
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--"+pluginsFlag+"="); ok {
			names = append(names, strings.Split(value, ",")...)
		} else if arg == "--"+pluginsFlag && i+1 < len(args) {
			names = append(names, strings.Split(args[i+1], ",")...)
		}
	}
	return names
}

// isUnknown returns whether an argument is a flag that cmd does not have.
func isUnknown(cmd *cobra.Command) func(string) bool {
	return func(arg string) bool {
		name, isFlag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		return isFlag && name != "" && name != "help" && cmd.Flags().Lookup(name) == nil
	}
}

// installRecorded is install for the plugins that PROJECT names.
func (a *App) installRecorded(c *project.Config) error {
	for _, key := range slices.Concat(a.Layouts.Unknown(slices.Values(c.Layout)), a.Layouts.Unknown(maps.Keys(c.Plugins))) {
		if err := a.installOne(key); err != nil {
			return err
		}
	}
	return nil
}

// install adds installed plugins with these keys or names to the layouts.
func (a *App) install(names []string) error {
	for _, name := range a.Layouts.Unknown(slices.Values(names)) {
		if err := a.installOne(name); err != nil {
			return err
		}
	}
	return nil
}

// InstalledPlugins returns the keys of the plugins that the user has installed, for completion.
func (a *App) InstalledPlugins() []string { return external.InstallFolders(a.Getenv).Keys() }

// checkInstalled returns an error for an unknown name that is similar to that of an installed plugin.
func (a *App) checkInstalled(names []string) error {
	unknown := a.Layouts.Unknown(slices.Values(names))
	if len(unknown) == 0 {
		return nil
	}
	installed := a.InstalledPlugins()
	for _, name := range unknown {
		if near := fault.Nearest(name, installed); near != "" {
			return fault.Usage("did you mean "+near+"?", "unknown plugin %q", name)
		}
	}
	return nil
}

// installOne adds the plugin with this key or name to the layouts, if it is installed.
func (a *App) installOne(name string) error {
	if !external.CanBe(name) {
		return nil
	}
	found, ok, err := external.InstallFolders(a.Getenv).Find(name)
	if err != nil || !ok || len(a.Layouts.Unknown(slices.Values([]string{found.Key()}))) == 0 {
		return err
	}
	p, err := a.externalPlugin(found)
	if err != nil {
		return err
	}
	a.Layouts = append(a.Layouts, plugin.Layout{Key: found.Key(), Short: found.Name, External: true, Plugins: plugin.Set{p}})
	return nil
}

// externalPlugin returns an installed plugin.
func (a *App) externalPlugin(found external.Found) (plugin.Plugin, error) {
	limit := time.Minute
	if text := a.Getenv("OPERON_PLUGIN_TIMEOUT"); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil || limit <= 0 {
			return nil, fault.Usage("write a number and a unit, such as 30s or 5m", "OPERON_PLUGIN_TIMEOUT is %q", text)
		}
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
	if found.Protocol == external.Kubebuilder {
		named := slices.ContainsFunc(pluginNames(a.args), func(n string) bool { return n == found.Key() || n == found.Name })
		return &external.Peer{Program: program, Args: peerArgs(a.args), Named: named}, nil
	}
	own, err := external.NewOwn(program)
	if err != nil {
		return nil, err
	}
	a.ends = append(a.ends, own.End)
	return own, nil
}

// endPlugins ends the processes of external plugins.
func (a *App) endPlugins() error {
	var errs []error
	for _, end := range a.ends {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// ownFlags are the flags of operon that plugins of kubebuilder do not know. The value is true for those with
// a value of their own.
var ownFlags = map[string]bool{"plugins": true, "yes": false, "dry-run": false, "diff": false, "output": true, "restore": true, "templates": true}

// peerArgs returns the flags of a command line as kubebuilder passes them on: each flag that starts
// with two dashes, and what follows it unless that is a flag.
func peerArgs(args []string) []string {
	var passed []string
	for i, arg := range args {
		name, isFlag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if _, own := ownFlags[name]; !isFlag || own {
			continue
		}
		passed = append(passed, arg)
		if i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			passed = append(passed, args[i+1])
		}
	}
	return passed
}
