//go:build testall

package operator

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReloadIgnoresEditorFiles checks that temporary files of editors restart no hooks,
// and that other files restart all hooks.
func TestReloadIgnoresEditorFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("names.txt")
	write("more.txt")
	var notes bytes.Buffer
	note := func(format string, args ...any) { fmt.Fprintf(&notes, format+"\n", args...) }
	r := &Reloader{Dir: dir, Note: note, files: filesBelow(dir)}
	if err := os.Remove(filepath.Join(dir, "more.txt")); err != nil {
		t.Fatal(err)
	}
	write("new.txt")
	for _, tc := range []struct{ paths, want string }{
		{"more.txt", "more.txt changed"},
		{"more.txt", ""},  // deleted before the last reload
		{"sedAbCdEf", ""}, // renamed to the file that was saved
		{"names.txt~", ""},
		{"4913", ""},
		{"names.txt, sedAbCdEf", "names.txt changed"},
		{"new.txt", "new.txt changed"},
	} {
		notes.Reset()
		if err := r.reload(t.Context(), strings.Split(tc.paths, ", ")); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(notes.String(), ","); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.paths, notes.String(), tc.want)
		}
	}
}
