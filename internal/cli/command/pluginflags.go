package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// PluginFlags are the flags that plugins add to a command.
type PluginFlags struct {
	cmd     *cobra.Command
	event   plugin.EventType
	owners  map[string][]string // flag -> names of the plugins that declare it
	layouts plugin.Catalogue
}

// BindPluginFlags adds the options for the event of all plugins in the catalogue, and --yes. It binds
// a flag that several plugins share only once. InstallNamed adds the flags of external
// plugins, and reads --yes.
func (a *App) BindPluginFlags(cmd *cobra.Command, event plugin.EventType) *PluginFlags {
	o := &PluginFlags{cmd: cmd, event: event, owners: map[string][]string{}, layouts: a.Catalogue}
	if a.external.flags == nil {
		a.external.flags = map[*cobra.Command]*PluginFlags{}
	}
	a.external.flags[cmd] = o
	cmd.Flags().Bool(yesFlag, false, "allow installed plugins and templates from outside the project, and remember the answer")
	o.bind(a.Catalogue.All())
	return o
}

// bind adds the options of plugins.
func (o *PluginFlags) bind(all plugin.Set) {
	cmd, event, f := o.cmd, o.event, o.cmd.Flags()
	for _, p := range all {
		for _, opt := range p.Options() {
			if !slices.Contains(opt.Events, event) {
				continue
			}
			o.owners[opt.Name] = append(o.owners[opt.Name], p.Name())
			if len(o.owners[opt.Name]) > 1 {
				continue
			}
			switch preset := opt.Default.(type) {
			case bool:
				f.Bool(opt.Name, preset, opt.Usage)
			case []string:
				if opt.Verbatim {
					f.StringArray(opt.Name, preset, opt.Usage)
				} else {
					f.StringSlice(opt.Name, preset, opt.Usage)
				}
			case string:
				f.String(opt.Name, preset, opt.Usage)
			default:
				panic(fmt.Sprintf("plugin %s: option %s has a default of type %T", p.Name(), opt.Name, preset))
			}
			_, list := opt.Default.([]string)
			switch {
			case len(opt.Values) > 0 && list:
				CompleteList(cmd, opt.Name, opt.Values...)
			case len(opt.Values) > 0:
				CompleteValues(cmd, opt.Name, opt.Values...)
			}
		}
	}
}

// values returns the options that the user set. An option of no active plugin is an error
// that names its owner, because it would have no effect. existing is false for a command that creates the project.
func (o *PluginFlags) values(active plugin.Set, existing bool) (map[string]any, error) {
	values := map[string]any{}
	f := o.cmd.Flags()
	for _, name := range o.Names() {
		flag := f.Lookup(name)
		if !flag.Changed {
			continue
		}
		if !slices.ContainsFunc(o.owners[name], active.Contains) {
			hint := "remove the flag, or start a project of that layout with init --plugins"
			if o.event == plugin.Init {
				hint = "remove the flag, or use --plugins " + strings.Join(o.owners[name], " or --plugins ")
			}
			if short, ok := o.layouts.Companion(o.owners[name][0]); ok && existing {
				hint = "add the plugin, too: operon edit --plugins " + short
			}
			return nil, fault.Usage(hint, "--%s belongs to the plugin %s, which this project does not use", name, strings.Join(o.owners[name], " or "))
		}
		switch flag.Value.Type() {
		case "bool":
			values[name], _ = f.GetBool(name)
		case "stringArray":
			// GetStringArray drops a single empty value.
			values[name] = flag.Value.(pflag.SliceValue).GetSlice()
		case "stringSlice":
			values[name], _ = f.GetStringSlice(name)
		default:
			values[name] = flag.Value.String()
		}
	}
	return values, nil
}

// Names returns the names of the flags, sorted.
func (o *PluginFlags) Names() []string { return slices.Sorted(maps.Keys(o.owners)) }

// ChangedOwners returns the keys of the plugins that have a flag which the user set, sorted.
func (o *PluginFlags) ChangedOwners() []string {
	var keys []string
	for name, owners := range o.owners {
		if o.cmd.Flags().Changed(name) {
			keys = append(keys, owners...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ChangedFlags returns the flags that the user typed as words of a command line, in the order of
// the help: --name=value, --name for a switch, and each value of a list by itself. It leaves out the flags
// in except.
func ChangedFlags(cmd *cobra.Command, except ...string) []string {
	var words []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case !f.Changed || slices.Contains(except, f.Name):
		case isList:
			for _, value := range list.GetSlice() {
				words = append(words, "--"+f.Name, value)
			}
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return words
}
