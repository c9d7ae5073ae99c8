package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
