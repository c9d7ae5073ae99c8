package scaffold

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestLock(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	unlock, err := Lock(root)
	must(t, err)
	_, err = Lock(root)
	if err == nil || err.Error() != "another operon command is running in this project" || fault.HintOf(err) == "" {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
	other, err := Lock(t.TempDir())
	must(t, err)
	other()
	unlock()
	again, err := Lock(root)
	must(t, err)
	again()
	entries, err := os.ReadDir(root)
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("the lock left %s behind", entries[0].Name())
	}
	if _, err := Lock(filepath.Join(root, "missing")); err == nil {
		t.Error("locked a missing folder")
	}
}
