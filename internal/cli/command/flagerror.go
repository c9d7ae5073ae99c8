package command

import (
	"errors"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError explains an invalid flag of a command line.
func FlagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(invalid)
	}
	if lacking, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		flag := lacking.GetFlag()
		return fault.Usage(flag.Usage, "--%s needs a value", flag.Name)
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if err := PeerCommand(cmd, cmd.Flags().Args()); err != nil {
			return err
		}
		name := unknown.GetSpecifiedName()
		if flag := NearestFlag(name, cmd); PeerFlag(cmd, name) != "" {
			hint = PeerFlag(cmd, name)
		} else if flag != "" {
			hint = "did you mean --" + flag + "?"
		}
	}
	return fault.Usage(hint, "%s", err)
}

// invalidValue explains a value that does not have the type of its flag.
func invalidValue(err *pflag.InvalidValueError) error {
	flag, value := err.GetFlag(), err.GetValue()
	switch flag.Value.Type() {
	case "bool":
		return fault.Usage("write --"+flag.Name+" or --"+flag.Name+"=false", "--%s=%s is neither true nor false", flag.Name, value)
	case "int":
		return fault.Usage(flag.Usage, "--%s %s is not a whole number", flag.Name, value)
	case "duration":
		return fault.Usage("write a number and a unit, such as 30s or 5m", "--%s %s is not a duration", flag.Name, value)
	}
	return fault.Usage(flag.Usage, "%s", err)
}

// NearestFlag returns the flag of cmd that is most similar to a misspelled name, or "".
func NearestFlag(name string, cmd *cobra.Command) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return fault.Nearest(name, names)
}
