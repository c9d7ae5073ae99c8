package command

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"
)

// Completion reads only PROJECT and ignores errors: a person who presses TAB wants values
// and no messages.

// CompleteValues offers a fixed list for a flag.
func CompleteValues(cmd *cobra.Command, flag string, values ...string) {
	CompleteFlag(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteList offers a fixed list for a flag with values separated by commas. It leaves
// out values that are already there.
func CompleteList(cmd *cobra.Command, flag string, values ...string) {
	CompleteFlag(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return CompleteMissing(values, typed)
	})
}

// CompleteMissing returns the values that the typed list does not have yet.
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

// CompleteFlag registers the completion of a flag. It panics if the flag does not exist.
func CompleteFlag(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err)
	}
}

// CompleteNothing offers neither values nor files.
func CompleteNothing(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		CompleteFlag(cmd, flag, cobra.NoFileCompletions)
	}
}

// CompleteFolder offers folders for a flag.
func CompleteFolder(cmd *cobra.Command, flag string) {
	CompleteFlag(cmd, flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// FolderArgument offers folders for the only argument of a command.
func FolderArgument(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// PlaceArgument offers folders and files for the only argument of a command, such as a bundle.
func PlaceArgument(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteFrom offers the values that a function returns.
func CompleteFrom(cmd *cobra.Command, flag string, values func() []string) {
	CompleteFlag(cmd, flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

// CompleteRestore offers the deleted files of the project for the flag --restore of cmd and of the
// commands below it.
func (a *App) CompleteRestore(cmd *cobra.Command) {
	if cmd.Flags().Lookup(restoreFlag) != nil {
		CompleteFrom(cmd, restoreFlag, func() []string {
			root, err := project.FindRoot(a.Dir)
			if err != nil {
				return nil
			}
			deleted, _ := scaffold.DeletedFiles(afero.NewBasePathFs(afero.NewOsFs(), root))
			return deleted
		})
	}
	for _, child := range cmd.Commands() {
		a.CompleteRestore(child)
	}
}
