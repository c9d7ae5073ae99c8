package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMark checks that a process that left its group and lost its parent, like
// the API server of a killed test, is found by its mark, and that others are
// not killed.
func TestMark(t *testing.T) {
	t.Parallel()
	start := func(env []string) (alive *os.File) {
		t.Helper()
		fifo := filepath.Join(t.TempDir(), "alive")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		// The shell exits immediately. sleep keeps the fifo open while it runs.
		cmd := exec.Command("sh", "-c", `setsid sleep 600 3>"$0" >/dev/null 2>&1 &`, fifo)
		cmd.Env = env
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(fifo)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	env, kill := Mark(os.Environ())
	other, killOther := Mark(os.Environ())
	t.Cleanup(killOther)
	if extra := strings.Join(env[len(os.Environ()):], " "); !strings.HasPrefix(extra, "OPERON_RUN=") {
		t.Errorf("the mark is %q", extra)
	}
	first, second := start(env), start(other)

	kill()
	_ = first.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := first.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		t.Errorf("the marked process is alive: %v", err)
	}
	_ = second.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := second.Read(make([]byte, 1)); !os.IsTimeout(err) {
		t.Errorf("the other process is dead: %v", err)
	}
}
