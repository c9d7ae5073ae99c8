package controlplane

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFolderRemoved removes the folder of a control plane, like a script that removes a
// temporary home.
func TestFolderRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.start()
	must(t, err)
	must(t, s.Detach())
	must(t, os.RemoveAll(w.home.dir))
	if _, err := s.supervisor.Process.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(w.home.dir); !os.IsNotExist(err) {
		t.Errorf("the folder exists again: %v", err)
	}
}

// TestFolderReplaced starts another supervisor with the same name, which keeps its folder.
func TestFolderReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.start()
	must(t, err)
	must(t, first.Detach())
	must(t, os.RemoveAll(w.home.dir))
	second, err := w.start()
	must(t, err)
	if second.Already {
		t.Fatal("the first control plane is still listed")
	}
	if _, err := first.supervisor.Process.Wait(); err != nil {
		t.Error(err)
	}
	if now, ok := w.home.state(DefaultName); !ok || now.Phase != Running || now.PID != second.State.PID {
		t.Errorf("the second control plane: %+v", now)
	}
}

func TestTrimLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{"long.log": maxLog + 1, "short.log": maxLog, "data": maxLog + 1} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, nil, 0o600))
		must(t, os.Truncate(path, size))
	}
	trimLogs(dir)
	for name, want := range map[string]int64{"long.log": 0, "short.log": maxLog, "data": maxLog + 1} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() != want {
			t.Errorf("%s: %v, %v", name, info.Size(), err)
		}
	}
}
