package command

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewGroup returns a command that only has subcommands.
func NewGroup(use, short string, children ...*cobra.Command) *cobra.Command {
	// Flags are not parsed, so that an unknown subcommand is reported before its flags.
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: GroupHelp, DisableFlagParsing: true}
	cmd.AddCommand(children...)
	return cmd
}

// makeTargets are the targets of generated Makefiles that are not commands of operon.
var makeTargets = []string{
	"build", "build-installer", "certificate", "check-apis", "check-generated",
	"bundle-build", "bundle-push", "catalog-build", "catalog-push", "cleanup-test-e2e", "controller-gen", "deploy",
	"docker-build", "docker-buildx", "docker-push", "fmt", "golangci-lint", "helm-deploy", "helm-history", "helm-rollback",
	"helm-status", "helm-uninstall", "install", "kind", "lint", "lint-config", "lint-fix", "run", "setup-envtest",
	"setup-test-e2e", "test-e2e", "undeploy", "uninstall", "vet",
}

// subcommands lists the commands of a group, such as "api, hook, module, webhook".
func subcommands(group *cobra.Command) string {
	var names []string
	for _, c := range group.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}

// inGroups returns the commands of that name in the groups of a command.
func inGroups(cmd *cobra.Command, name string) []string {
	var found []string
	for _, group := range cmd.Commands() {
		for _, c := range group.Commands() {
			if c.Name() == name && c.IsAvailableCommand() {
				found = append(found, group.Name()+" "+name)
			}
		}
	}
	return found
}

// GroupHelp prints the help of a group, or returns an error for an unknown command.
func GroupHelp(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" {
		return cmd.Help()
	}
	if strings.HasPrefix(args[0], "-") {
		return fault.Usage("put the flag after one of "+subcommands(cmd), "%s needs a command before %s", cmd.CommandPath(), args[0])
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if err := PeerCommand(cmd, args); err != nil {
		return err
	}
	if cmd.Name() == "hooks" && slices.Contains([]string{"create", "new", "add"}, args[0]) {
		hint = "use operon create hook NAME"
	}
	if cmd.Name() == "kustomize" {
		hint = "use operon kustomize build " + args[0]
	}
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2) // words of three letters are similar to many
	if !cmd.HasParent() && slices.Contains(makeTargets, args[0]) {
		hint = "that is a target of the project's Makefile: make " + args[0]
	} else if s := append(cmd.SuggestionsFor(args[0]), inGroups(cmd, args[0])...); len(s) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + strings.Join(s, " or ") + "?"
	}
	return fault.Usage(hint, "unknown command %q for %s", args[0], cmd.CommandPath())
}

// NoArgs rejects positional arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if flag := withoutValue(cmd); flag != nil {
		return fault.Usage(flag.Usage, "--%s needs a value", flag.Name)
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if args[0] == "true" || args[0] == "false" {
		hint = "write the value of a boolean flag after =, as in --dry-run=" + args[0]
	} else if flag := flagFor(cmd, args[0]); flag != "" {
		hint = "did you mean " + flag + "?"
	}
	return fault.Usage(hint, "%s accepts no arguments, got %q", cmd.CommandPath(), args[0])
}

// CheckDashes returns an error for an argument that starts with a dash, as flags do in texts that a program has typeset.
func CheckDashes(cmd *cobra.Command, args []string) error {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args = args[:n] // the rest is for another program
	}
	for _, arg := range args {
		if name := strings.TrimLeft(arg, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"); name != arg {
			name = strings.TrimLeft(name, "-")
			if len(name) == 1 {
				return fault.Usage("write -"+name, "%q starts with a typographic dash, not with a hyphen", arg)
			}
			return fault.Usage("write --"+name, "%q starts with a typographic dash, not with two hyphens", arg)
		}
	}
	return nil
}

// withoutValue returns the flag whose value is missing on the command line, so that it has the next flag as
// its value, or nil: in "--group --version v1", it is --group, and v1 is left over as an argument.
func withoutValue(cmd *cobra.Command) *pflag.Flag {
	var found *pflag.Flag
	cmd.Flags().Visit(func(f *pflag.Flag) {
		next, ok := strings.CutPrefix(strings.TrimPrefix(f.Value.String(), "["), "--")
		if ok && found == nil && cmd.Flags().Lookup(strings.TrimSuffix(next, "]")) != nil {
			found = f
		}
	})
	return found
}

// flagFor returns the flag, with its value, that the user of an argument may have meant, or "".
func flagFor(cmd *cobra.Command, arg string) string {
	if cmd.Flags().Lookup(arg) != nil {
		return "--" + arg
	}
	for _, f := range []struct {
		name string
		fits bool
	}{
		{"kind", arg[:min(1, len(arg))] != strings.ToLower(arg[:min(1, len(arg))])},
		{"domain", strings.Contains(arg, ".")},
		{"name", true},
	} {
		if flag := cmd.Flags().Lookup(f.name); f.fits && flag != nil && !flag.Changed {
			return "--" + f.name + " " + arg
		}
	}
	return ""
}
