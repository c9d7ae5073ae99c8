package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/external"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// bindExternal adds the flags of an external plugin, and for help, its description.
func (o *PluginFlags) bindExternal(ctx context.Context, l plugin.Entry, help bool) error {
	p, ok := l.Plugins[0].(*external.Plugin)
	if !ok {
		return nil
	}
	flags, err := p.Flags(ctx, o.event, func(name string) bool { return o.cmd.Flags().Lookup(name) == nil })
	if err != nil {
		return err
	}
	for _, f := range flags {
		if err := o.bindFlag(l.Key, f); err != nil {
			return err
		}
		p.Requested = p.Requested || slices.ContainsFunc(p.Args, func(arg string) bool {
			return arg == "--"+f.Name || strings.HasPrefix(arg, "--"+f.Name+"=")
		})
	}
	if !help {
		return nil
	}
	about, err := p.Help(ctx, o.event)
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(about.Description); text != "" {
		o.cmd.Long += "\n\nThe plugin " + l.Key + ": " + text
	}
	if text := strings.TrimSpace(about.Examples); text != "" {
		o.cmd.Example += "\n\n  # The plugin " + l.Key + "\n  " + IndentRest(text, "  ")
	}
	return nil
}

// bindFlag adds one flag. A flag that the command already has is the same one.
func (o *PluginFlags) bindFlag(key string, flag external.Flag) error {
	f := o.cmd.Flags()
	if f.Lookup(flag.Name) != nil {
		return nil
	}
	usage := strings.TrimSpace(flag.Usage) + " (plugin " + key + ")"
	bad := func(err error) error {
		if err == nil {
			return nil
		}
		return fault.Failed("correct the plugin", "the plugin %s: the flag --%s has the default %q, which is not of the type %s", key, flag.Name, flag.Default, flag.Type)
	}
	var err error
	switch flag.Type {
	case "bool":
		var preset bool
		if flag.Default != "" {
			preset, err = strconv.ParseBool(flag.Default)
		}
		f.Bool(flag.Name, preset, usage)
	case "int":
		var preset int
		if flag.Default != "" {
			preset, err = strconv.Atoi(flag.Default)
		}
		f.Int(flag.Name, preset, usage)
	case "float":
		var preset float64
		if flag.Default != "" {
			preset, err = strconv.ParseFloat(flag.Default, 64)
		}
		f.Float64(flag.Name, preset, usage)
	default:
		f.String(flag.Name, flag.Default, usage)
	}
	o.owners[flag.Name] = append(o.owners[flag.Name], key)
	return bad(err)
}

const pluginsFlag = "plugins"

// parse finds the command of a command line, and the values of the flags that decide about plugins. It runs
// before plugins add their flags, so it ignores unknown ones. It returns false for a command without flags of
// plugins, and for invalid values.
func (x *externalPlugins) parse(root *cobra.Command, args []string) bool {
	if len(args) > 1 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	cmd, rest, err := root.Find(args)
	x.cmd, x.args, x.named = cmd, rest, nil
	f := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.BoolVar(&x.yes, yesFlag, false, "")
	f.BoolVarP(&x.help, "help", "h", false, "")
	f.StringSliceVar(&x.named, pluginsFlag, nil, "")
	cmd.Flags().VisitAll(func(known *pflag.Flag) { // so that their values do not count as flags
		if f.Lookup(known.Name) == nil {
			f.AddFlag(&pflag.Flag{Name: known.Name, Shorthand: known.Shorthand, NoOptDefVal: known.NoOptDefVal, Value: ignored{}})
		}
	})
	return err == nil && x.flags[cmd] != nil && f.Parse(rest) == nil
}

// ignored is the value of a flag that does not matter.
type ignored struct{}

func (ignored) String() string   { return "" }
func (ignored) Set(string) error { return nil }
func (ignored) Type() string     { return "string" }

// isUnknown returns whether an argument is a flag that cmd does not have.
func isUnknown(cmd *cobra.Command) func(string) bool {
	return func(arg string) bool {
		name, isFlag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		return isFlag && name != "" && name != "help" && cmd.Flags().Lookup(name) == nil
	}
}
