package cli

import (
	"io"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

var shells = map[string]func(*cobra.Command) error{
	"bash": func(root *cobra.Command) error {
		if _, err := io.WriteString(root.OutOrStdout(), bashFallbacks); err != nil {
			return err
		}
		return root.GenBashCompletionV2(root.OutOrStdout(), true)
	},
	"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(root.OutOrStdout()) },
	"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(root.OutOrStdout(), true) },
	"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(root.OutOrStdout()) },
}

// bashFallbacks defines the two functions of the bash-completion package that cobra's
// script calls, in case that package is not loaded.
const bashFallbacks = `# Replace functions of the bash-completion package if it is not loaded.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        if [[ $line == *[[:space:]] ]]; then words+=(""); fi
        cword=$((${#words[@]} - 1))
        cur=${words[cword]}
        prev=${words[cword > 0 ? cword - 1 : 0]}
    }
fi
if ! declare -F _filedir >/dev/null; then
    _filedir()
    {
        local IFS=$'\n' kind=-f
        if [[ ${1-} == -d ]]; then kind=-d; fi
        COMPREPLY=($(compgen $kind -- "$cur"))
    }
fi

`

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for a shell",
		Example: `  source <(operon completion bash)
  operon completion fish > ~/.config/fish/completions/operon.fish`,
		ValidArgs: slices.Sorted(maps.Keys(shells)),
		RunE: func(cmd *cobra.Command, args []string) error {
			const hint = "valid shells: bash, fish, powershell, zsh"
			if len(args) != 1 {
				return fault.Usage(hint, "%s needs the name of one shell", cmd.CommandPath())
			}
			script, ok := shells[args[0]]
			if !ok {
				return fault.Usage(hint, "unknown shell %q", args[0])
			}
			return script(cmd.Root())
		},
	}
}
