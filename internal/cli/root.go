package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

const exitCodes = `Exit codes:
  0    done, or nothing to do
  1    failed
  2    bad usage or invalid input
  3    differences found (a conflict with your files)
  130  interrupted (SIGINT)
  143  terminated (SIGTERM, or the terminal closed)`

func newRoot(a *App) *cobra.Command {
	root := &cobra.Command{
		Use:   "operon",
		Short: "Scaffold Kubernetes operators and generate their manifests",
		Long: `operon takes you from an empty folder to a Kubernetes operator that builds and
passes its tests against a real API server. It works offline, writes all of a
command's changes or none, and never overwrites a line of yours.

` + exitCodes,
		Example: `  operon init --domain example.org --repo example.org/fleet
  operon create api --group ship --version v1 --kind Frigate
  operon generate`,
		Version:       versions().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          groupHelp,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(usageTemplate(root))
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newInit(a), newCreate(a), newEdit(a),
		newGenerate(a), newManifests(a),
		newTest(a), newEnvtest(a), newHooks(a),
		newCompletion(), newVersion(a),
	)
	return root
}

// newHelp is cobra's help command, but for a topic that is none: an error like
// any other.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Show what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return groupHelp(cmp.Or(cmd, root), rest)
			}
			return cmd.Help()
		},
	}
}

// newGroup returns a command that only holds others.
func newGroup(use, short string, children ...*cobra.Command) *cobra.Command {
	// Flags are left alone: they belong to a child, and a word that is none is to
	// be named before the flags behind it.
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: groupHelp, DisableFlagParsing: true}
	cmd.AddCommand(children...)
	return cmd
}

// peerCommands are commands of kubebuilder that its users will try here.
var peerCommands = []string{"alpha"}

// makeTargets are targets of all Makefiles that operon writes, of which it has no command.
var makeTargets = []string{"build-installer", "deploy", "docker-build", "docker-push", "undeploy"}

// deeper are the commands of that name in the groups of a command.
func deeper(cmd *cobra.Command, name string) []string {
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

// groupHelp shows a group's help, or says that its argument is no command.
func groupHelp(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" {
		return cmd.Help()
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if slices.Contains(peerCommands, args[0]) {
		return fault.Usage(peerUpgrade, "operon has no %s command yet", args[0])
	}
	if cmd.Name() == "hooks" && slices.Contains([]string{"create", "new", "add"}, args[0]) {
		hint = "a hook is made by operon create hook NAME"
	}
	if !cmd.HasParent() && slices.Contains(makeTargets, args[0]) {
		hint = "that is a target of the project's Makefile: make " + args[0]
	}
	cmd.SuggestionsMinimumDistance = 2
	if s := append(cmd.SuggestionsFor(args[0]), deeper(cmd, args[0])...); len(s) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + strings.Join(s, " or ") + "?"
	}
	return fault.Usage(hint, "unknown command %q for %s", args[0], cmd.CommandPath())
}

// noArgs refuses positional arguments with the one-line error of the house.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.Usage("see `"+cmd.CommandPath()+" --help`", "%s takes no arguments, got %q", cmd.CommandPath(), args[0])
}
