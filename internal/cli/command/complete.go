package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Completion answers from PROJECT alone and swallows its errors: a person who
// presses TAB wants values or silence.

// CompleteValues offers a fixed list for a flag.
func CompleteValues(cmd *cobra.Command, flag string, values ...string) {
	CompleteFlag(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteList offers a fixed list for a flag that takes several values,
// separated by commas: those that are not there yet.
func CompleteList(cmd *cobra.Command, flag string, values ...string) {
	CompleteFlag(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return CompleteMissing(values, typed)
	})
}

// CompleteMissing offers those values that the typed list lacks.
func CompleteMissing(values []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	head := typed[:strings.LastIndex(typed, ",")+1]
	var offers []cobra.Completion
	for _, v := range values {
		if !slices.Contains(strings.Split(head, ","), v) {
			offers = append(offers, head+v)
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// CompleteFlag has values complete a flag. An error is a mistake in the program: the
// flag does not exist.
func CompleteFlag(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err)
	}
}

// Completion for hooks starts none of them, for they may be slow: what they are
// bound to is read from their text, where it stands there word for word.

// CompleteNothing offers nothing, and no files, for flags whose values nobody knows.
func CompleteNothing(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		CompleteFlag(cmd, flag, cobra.NoFileCompletions)
	}
}

// CompleteFrom offers what values returns, and no files.
func CompleteFrom(cmd *cobra.Command, flag string, values func() []string) {
	CompleteFlag(cmd, flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}
