package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
)

// TestSavedByEditors passes over files that come and go while an editor saves another
// one, and starts all anew for those that hooks may have read.
func TestSavedByEditors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("names.txt")
	write("more.txt")
	var said bytes.Buffer
	r := &hookRunner{App: &command.App{Err: &said}, o: &hooksRun{dir: dir}, dir: dir, files: filesBelow(dir)}
	if err := os.Remove(filepath.Join(dir, "more.txt")); err != nil {
		t.Fatal(err)
	}
	write("new.txt")
	for _, tc := range []struct{ paths, want string }{
		{"more.txt", "more.txt changed"},
		{"more.txt", ""},  // which was gone already
		{"sedAbCdEf", ""}, // renamed to the file that was saved
		{"names.txt~", ""},
		{"4913", ""},
		{"names.txt, sedAbCdEf", "names.txt changed"},
		{"new.txt", "new.txt changed"},
	} {
		said.Reset()
		if err := r.saved(t.Context(), strings.Split(tc.paths, ", ")); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(said.String(), ","); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.paths, said.String(), tc.want)
		}
	}
}
