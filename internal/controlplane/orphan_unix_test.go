//go:build unix

package controlplane

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestOrphan tests the case that the system does not end the programs of a killed
// supervisor.
func TestOrphan(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plane")
	must(t, os.Mkdir(dir, 0o700))
	orphan := exec.Command("sleep", "100")
	known, err := tag(orphan, filepath.Join(dir, "etcd"+pidSuffix))
	must(t, err)
	must(t, orphan.Start())
	known(orphan.Process)
	// The program ended, and another process has its ID now.
	stranger := exec.Command("sleep", "100")
	must(t, stranger.Start())
	defer func() { _, _ = stranger.Process.Kill(), stranger.Wait() }()
	must(t, os.WriteFile(filepath.Join(dir, "kube-apiserver"+pidSuffix), []byte(strconv.Itoa(stranger.Process.Pid)), 0o600))

	must(t, removeFolder(dir))
	var exit *exec.ExitError
	if err := orphan.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the orphan ended with %v", err)
	}
	if err := stranger.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other process: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}
