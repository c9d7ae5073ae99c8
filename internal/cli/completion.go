package cli

import (
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

var shells = map[string]func(*cobra.Command) error{
	"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(root.OutOrStdout(), true) },
	"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(root.OutOrStdout()) },
	"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(root.OutOrStdout(), true) },
	"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(root.OutOrStdout()) },
}

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for a shell",
		Example: `  source <(operon completion bash)
  operon completion fish > ~/.config/fish/completions/operon.fish`,
		ValidArgs: sortedKeys(shells),
		RunE: func(cmd *cobra.Command, args []string) error {
			const hint = "valid shells: bash, fish, powershell, zsh"
			if len(args) != 1 {
				return fault.Usage(hint, "%s takes one shell", cmd.CommandPath())
			}
			script, ok := shells[args[0]]
			if !ok {
				return fault.Usage(hint, "unknown shell %q", args[0])
			}
			return script(cmd.Root())
		},
	}
}
