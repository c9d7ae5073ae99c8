package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
)

// TestHelpWidth checks that the help of every command fits in a terminal with 80 columns, except for
// addresses that are as long.
func TestHelpWidth(t *testing.T) {
	t.Parallel()
	const columns, address = 80, 60
	walk(newRoot(&command.App{Catalogue: catalogue()}), func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example + "\n" + cmd.Short + "\n" + cmd.UsageString()) {
			isLong := func(word string) bool { return len(word) > address }
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns && !slices.ContainsFunc(strings.Fields(line), isLong) {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
	})
}
