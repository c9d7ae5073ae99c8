//go:build unix

package interrupt

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestInterrupt interrupts and kills a command as soon as it has written something. An interrupted command leaves nothing.
// After a kill, the next command finishes. TestInterruptOften tries other moments.
func TestInterrupt(t *testing.T) {
	finished := listing(t, operontest.InitProject(t))
	for sig, want := range map[syscall.Signal]struct {
		code int
		tree map[string]string
	}{syscall.SIGINT: {fault.CodeInterrupted, nil}, syscall.SIGKILL: {-1, finished}} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			for range 100 {
				dir := filepath.Join(t.TempDir(), "fleet")
				treetest.MakeDir(t, dir)
				code := signalled(t, dir, sig, func() { awaitFile(dir) }, operontest.InitArgs...)
				if code == 0 {
					continue // the command was faster
				}
				if sig == syscall.SIGKILL {
					operontest.Run(t, dir, operontest.InitArgs...)
				}
				if diff := cmp.Diff(want.tree, listing(t, dir)); diff != "" || code != want.code {
					t.Fatalf("exit code %d, want %d; tree (-want +got):\n%s", code, want.code, diff)
				}
				return
			}
			t.Error("no run was interrupted")
		})
	}
}

// awaitFile waits until a folder has a file, at most for a minute.
func awaitFile(dir string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			return
		}
	}
}

// TestInterruptTwice sends a signal several times, as timeout(1) does. The command still
// cleans up and ends with its own exit code.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	dir := slowHook(t, "exec sleep 60")
	cmd := exec.Command("operon", "hooks", "validate")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForHook(dir)
	for range 50 {
		if cmd.Process.Signal(syscall.SIGINT) != nil {
			break // it has ended
		}
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != fault.CodeInterrupted {
		t.Errorf("exit code %d, want %d", code, fault.CodeInterrupted)
	}
}

// TestIgnoredInterrupt shows that a script can keep Ctrl-C from a command that cleans up.
func TestIgnoredInterrupt(t *testing.T) {
	t.Parallel()
	dir := slowHook(t, "sleep 0.5; printf '{\"configVersion\":\"v1\",\"onStartup\":1}'")
	cmd := exec.Command("sh", "-c", "trap '' INT HUP; exec operon hooks validate")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForHook(dir)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// slowHook makes a folder with a hook that touches the file started, and then runs a command.
func slowHook(t *testing.T, command string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	treetest.MakeDir(t, filepath.Join(dir, "hooks"))
	if err := os.WriteFile(filepath.Join(dir, "hooks", "slow.sh"), []byte("#!/bin/sh\ntouch ../started\n"+command+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// waitForHook waits until the hook of slowHook runs, for 30 seconds at most.
func waitForHook(dir string) {
	for range 3000 {
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// signalled starts operon in dir, waits, sends it a signal and returns its exit
// code, or -1 when the signal killed it. Unless killed, it must remove its temporary
// files.
func signalled(t *testing.T, dir string, sig syscall.Signal, wait func(), args ...string) int {
	t.Helper()
	cmd := exec.Command("operon", args...)
	cmd.Dir = dir
	tmp := t.TempDir()
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600", "TMPDIR="+tmp)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait()
	_ = cmd.Process.Signal(sig) // it may have ended
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	if code > 0 && !strings.Contains(stderr.String(), "error: interrupted") {
		t.Fatalf("stderr of an interrupted command:\n%s", stderr.String())
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "operon-*")); code >= 0 && (err != nil || len(left) > 0) {
		t.Fatalf("temporary files after exit code %d: %q, %v", code, left, err)
	}
	return code
}

// pause waits.
func pause(delay time.Duration) func() { return func() { time.Sleep(delay) } }

// listing returns the mode and content of all files and folders below dir, without the
// journal. It is nil for an empty folder.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	var tree map[string]string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if rel == ".operon/journal" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if tree == nil {
			tree = map[string]string{}
		}
		tree[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(name)
			tree[rel] += "\n" + string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
