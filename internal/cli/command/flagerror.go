package command

import (
	"errors"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hintKubebuilder is the hint about what operon does not do yet.
const hintKubebuilder = "kubebuilder v4.15 can do this in the same project"

// HintKubebuilderUpgrade is the hint about its upgrades, which need the version that it notes
// in PROJECT when it begins a project.
const HintKubebuilderUpgrade = "kubebuilder v4.15 can do this in a project that it began"

// peerFlags are flags of kubebuilder that its users will try here, with what to
// do instead (docs/kubebuilder.md).
var peerFlags = map[string]string{
	"plugins": "leave it out: the plugins of a project stand in its PROJECT file, under layout",
	"legacy":  "leave it out: webhooks stand in internal/webhook, for kubebuilder has given the place beside the types up",

	"image":                   hintKubebuilder + ": --plugins deploy-image/v1-alpha",
	"image-container-command": hintKubebuilder + ": --plugins deploy-image/v1-alpha",
	"image-container-port":    hintKubebuilder + ": --plugins deploy-image/v1-alpha",
	"run-as-user":             hintKubebuilder + ": --plugins deploy-image/v1-alpha",
	"manifests":               hintKubebuilder + ", with its plugins deploy-image/v1-alpha and helm/v2-alpha",
	"output-dir":              hintKubebuilder + ": --plugins helm/v2-alpha",
	"use-gh-models":           HintKubebuilderUpgrade,
}

// FlagError returns what a command line with these arguments says of a flag that
// its command does not take. A first word that is no command comes first: the
// flags behind it belong to a command of another tool, or of another spelling.
func FlagError(args []string) func(*cobra.Command, error) error {
	return func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			return GroupHelp(cmd, args[:1])
		}
		hint := "see `" + cmd.CommandPath() + " --help`"
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			name := unknown.GetSpecifiedName()
			if flag := NearestFlag(name, cmd); peerFlags[name] != "" {
				hint = peerFlags[name]
			} else if flag != "" {
				hint = "did you mean --" + flag + "?"
			}
		}
		if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Value.Type() == "bool" {
			name := invalid.GetFlag().Name
			return fault.Usage("write --"+name+" or --"+name+"=false", "--%s=%s is neither true nor false", name, invalid.GetValue())
		}
		return fault.Usage(hint, "%s", err)
	}
}

// NearestFlag returns the flag of cmd that a misspelt name most likely means, or
// "".
func NearestFlag(name string, cmd *cobra.Command) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return fault.Nearest(name, names)
}
