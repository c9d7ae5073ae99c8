package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/cli/bundlecmd"
	"github.com/operon-dev/operon/internal/cli/catalogcmd"
	"github.com/operon-dev/operon/internal/cli/chartcmd"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/createcmd"
	"github.com/operon-dev/operon/internal/cli/envtestcmd"
	"github.com/operon-dev/operon/internal/cli/generatecmd"
	"github.com/operon-dev/operon/internal/cli/hookscmd"
	"github.com/operon-dev/operon/internal/cli/imagecmd"
	"github.com/operon-dev/operon/internal/cli/olmcmd"
	"github.com/operon-dev/operon/internal/cli/projectcmd"
	"github.com/operon-dev/operon/internal/cli/runcmd"
	"github.com/operon-dev/operon/internal/cli/templatescmd"
	"github.com/operon-dev/operon/plugins/helm"
	"github.com/spf13/cobra"
)

const exitCodes = `Exit codes:
  0    done, or nothing to do
  1    failed
  2    bad usage or invalid input
  3    differences found: conflicts with your files, or a failed check
  130  interrupted (SIGINT)
  143  terminated (SIGTERM, or the terminal closed)`

func newRoot(a *command.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "operon",
		Short: "Build and test Kubernetes operators",
		Long: `operon takes you from an empty folder to a Kubernetes operator that builds and
passes its tests against a real API server. It works offline, applies each
command atomically, and never overwrites your code.

` + exitCodes,
		Example: `  operon init --domain example.org --repo example.org/fleet
  operon create api --group ship --version v1 --kind Frigate
  operon generate`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          runRoot,

		PersistentPreRun: command.ImplyDryRun,

		// As in command.NewGroup, so that an unknown command is an error, also with --help.
		DisableFlagParsing: true,
	}
	root.Flags().BoolP("version", "v", false, "version for operon")
	root.SetFlagErrorFunc(command.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(command.UsageTemplate(root))
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		projectcmd.NewInit(a), projectcmd.NewAdopt(a), createcmd.New(a), projectcmd.NewEdit(a),
		generatecmd.NewGenerate(a), generatecmd.NewManifests(a),
		generatecmd.NewTest(a, hookscmd.RunTests, chartcmd.RunTests), envtestcmd.New(a), hookscmd.New(a),
		bundlecmd.New(a), bundlecmd.NewScorecard(a), bundlecmd.NewPackageManifests(a), catalogcmd.New(a), chartcmd.New(a),
		imagecmd.NewImage(a), imagecmd.NewInstaller(a), imagecmd.NewKustomize(a),
		newRun(a), olmcmd.NewCleanup(a), olmcmd.NewOLM(a),
		templatescmd.New(a),
		newCompletion(), newVersion(a),
	)
	offerNoFiles(root)
	checkDashes(root)
	a.CompleteRestore(root)
	return root
}

// newRun returns the command run, whose parts are in several packages.
func newRun(a *command.App) *cobra.Command {
	return runcmd.New(a, runcmd.Parts{
		Hooks: hookscmd.Run, NewGenerator: generatecmd.NewGenerator, ChartRuntime: helm.LocalRuntime,
		Commands: []*cobra.Command{olmcmd.NewRunBundle(a), olmcmd.NewRunUpgrade(a)},
	})
}

// runRoot runs operon without a command.
func runRoot(root *cobra.Command, args []string) error {
	if len(args) > 0 && slices.Contains([]string{"-v", "--version", "--version=true"}, args[0]) {
		_, err := fmt.Fprintf(root.OutOrStdout(), "operon version %s\n", command.Version())
		return err
	}
	return command.GroupHelp(root, args)
}

// checkDashes lets all commands explain arguments that start with a dash.
func checkDashes(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			return cmp.Or(command.CheckDashes(cmd, args), check(cmd, args))
		}
	}
	for _, sub := range cmd.Commands() {
		checkDashes(sub)
	}
}

// offerNoFiles disables file name completion for commands that accept no arguments.
func offerNoFiles(cmd *cobra.Command) {
	if !cmd.HasSubCommands() && cmd.Use == cmd.Name() && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, child := range cmd.Commands() {
		offerNoFiles(child)
	}
}

// newHelp returns cobra's help command, which also returns an error for an unknown topic.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Show help for a command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			cmd, rest, err := root.Find(args)
			var names []cobra.Completion
			for _, child := range cmp.Or(cmd, root).Commands() {
				if err == nil && len(rest) == 0 && child.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(child.Name(), child.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return command.GroupHelp(cmp.Or(cmd, root), rest)
			}
			cmd.InitDefaultHelpFlag() // as with --help
			return cmd.Help()
		},
	}
}
