package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/external"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
)

// bindExternal adds the flags of an external plugin, and for help, its description.
func (o *PluginFlags) bindExternal(ctx context.Context, l plugin.Layout, help bool) error {
	p, ok := l.Plugins[0].(*external.KubebuilderPlugin)
	if !ok {
		return o.bindDeclared(l)
	}
	flags, err := p.Flags(ctx, o.event, func(name string) bool { return o.cmd.Flags().Lookup(name) == nil })
	if err != nil {
		return err
	}
	for _, f := range flags {
		if err := o.bindFlag(l.Key, f); err != nil {
			return err
		}
		p.Requested = p.Requested || slices.ContainsFunc(p.Args, func(arg string) bool { return arg == "--"+f.Name || strings.HasPrefix(arg, "--"+f.Name+"=") })
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

// bindDeclared adds the flags that the manifest of a plugin declares.
func (o *PluginFlags) bindDeclared(l plugin.Layout) error {
	for _, option := range l.Plugins[0].Options() {
		if slices.Contains(option.Events, o.event) && o.cmd.Flags().Lookup(option.Name) != nil {
			return fault.Usage("give the flag of the plugin another name", "the plugin %s has the flag --%s, which %s has, too", l.Key, option.Name, o.cmd.CommandPath())
		}
	}
	o.bind(l.Plugins)
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
