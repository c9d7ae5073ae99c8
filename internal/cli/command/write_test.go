package command

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

// TestConflictError checks that no hint leads to a file that stays deleted: a missing file that operon wrote before
// needs --restore.
func TestConflictError(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		names          string
		force, restore bool
		want           string
	}{
		{"mine", false, true, "these files exist and differ: mine; move them away, then repeat the command"},
		{"mine", true, true, "these files exist and differ: mine; move them away, or use --force to replace the files (the old content is kept in .operon/journal)"},
		{"edited", false, true, "new content overlaps with your edits: edited; take the new lines from --diff, repeat the command, and apply your edits again; or move the files away and add --restore FILE"},
		{"edited", true, true, "new content overlaps with your edits: edited; take the new lines from --diff, or use --force to replace the files (the old content is kept in .operon/journal)"},
		{"edited mine", false, true, "these files exist and differ: edited, mine; move them away, then repeat the command with --restore FILE for each"},
		{"edited", false, false, "new content overlaps with your edits: edited; take the new lines from --diff, then repeat the command"},
	} {
		err := conflictError(strings.Fields(tc.names), func(name string) bool { return name == "edited" }, tc.force, tc.restore)
		if got := err.Error() + "; " + fault.HintOf(err); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
