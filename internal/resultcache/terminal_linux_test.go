package resultcache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/termtest"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	_, terminal := termtest.Open(t, 80)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	for stream, want := range map[*os.File]bool{terminal: true, null: false, file: false, pipe: false} {
		if got := Terminal(stream); got != want {
			t.Errorf("%s: %v", stream.Name(), got)
		}
	}
}
