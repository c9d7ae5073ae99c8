//go:build unix

package interrupt

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestInterrupt sends signals at many moments of a command. Afterwards the tree is the one
// before, or that of the finished command, including folders and modes. SIGKILL may leave
// another tree, which the next command restores.
func TestInterrupt(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			// Under nohup, child processes would ignore SIGHUP, too; Notify prevents that.
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	finished := listing(t, operontest.InitProject(t))
	for _, tc := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 143}, {syscall.SIGKILL, -1}} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			t.Parallel()
			interrupted := 0
			for i := range 40 {
				dir := filepath.Join(t.TempDir(), "fleet")
				treetest.MakeDir(t, dir)
				code := signalled(t, dir, tc.signal, time.Duration(i)*2*time.Millisecond, operontest.InitArgs...)
				if code != 0 && code != tc.code && code != -1 { // -1: the signal arrived before main set its handler
					t.Fatalf("exit code %d after %v", code, tc.signal)
				}
				if code != 0 {
					interrupted++
				}
				got := listing(t, dir)
				if tc.signal == syscall.SIGKILL {
					operontest.Run(t, dir, operontest.InitArgs...)
					got = listing(t, dir)
					if diff := cmp.Diff(finished, got); diff != "" {
						t.Fatalf("the command after a kill (-want +got):\n%s", diff)
					}
					continue
				}
				want := finished
				if code != 0 {
					want = nil
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("tree after exit code %d (-want +got):\n%s", code, diff)
				}
			}
			if interrupted == 0 {
				t.Error("no run was interrupted")
			}
		})
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

// TestInterruptGenerate interrupts a command while it generates.
func TestInterruptGenerate(t *testing.T) {
	dir := operontest.InitProject(t)
	before := listing(t, dir)
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate"}
	for i := range 6 {
		code := signalled(t, dir, syscall.SIGINT, time.Duration(30+i*60)*time.Millisecond, create...)
		if code == 0 {
			break // the command finished first
		}
		// -1: the signal arrived before main set its handler.
		if code != fault.CodeInterrupted && code != -1 {
			t.Fatalf("exit code %d", code)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Fatalf("tree after an interrupted create api (-before +after):\n%s", diff)
		}
	}
}

// TestInterruptChange interrupts commands that change and move many files of a project.
// Each leaves the tree unchanged, or finishes.
func TestInterruptChange(t *testing.T) {
	start, hooks, modules := operontest.InitProject(t), filepath.Join(t.TempDir(), "hooks"), filepath.Join(t.TempDir(), "modules")
	for dir, plugin := range map[string]string{hooks: "shell", modules: "addon"} {
		treetest.MakeDir(t, dir)
		operontest.Run(t, dir, "init", "--domain", "example.org", "--plugins", plugin)
	}
	for _, args := range [][]string{
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate"},
		{"create", "api", "--group", "ship", "--version", "v2", "--kind", "Frigate", "--controller=false"},
		{"create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting"},
	} {
		operontest.Run(t, start, append(args, "--make=false")...)
	}
	for _, args := range [][]string{
		{"create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--programmatic-validation", "--conversion", "--make=false"},
		{"create", "api", "--group", "apps", "--version", "v1", "--kind", "Deployment", "--resource=false", "--make=false"},
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Cutter", "--image", "cutter:1", "--image-container-port", "80", "--make=false"},
		// Its types are in a module that the go command adds to go.mod.
		{"create", "api", "--group", "apiextensions", "--version", "v1", "--kind", "CustomResourceDefinition", "--resource=false", "--make=false"},
		{"edit", "--multigroup", "--make=false"},
		{"edit", "--namespaced", "--make=false"},
		{"edit", "--plugins", "olm"},
		{"create", "hook", "guard", "--validate", "Pod", "--on", "kubernetes:Secret", "--lang", "python"},
		{"create", "module", "registry", "--enabled-script"},
	} {
		start := start
		switch args[1] {
		case "hook":
			start = hooks
		case "module":
			start = modules
		}
		t.Run(strings.Join(args[:min(4, len(args))], " "), func(t *testing.T) {
			t.Parallel()
			interruptChange(t, start, args)
		})
	}
}

// interruptChange interrupts a command in copies of a project, later each time.
func interruptChange(t *testing.T, project string, args []string) {
	done, dir := copied(t, project), copied(t, project)
	before := listing(t, dir)
	operontest.Run(t, done, args...)
	after := listing(t, done)
	interrupted, step := 0, 3*time.Millisecond
	if slices.Contains(args, "apiextensions") {
		step = 20 * time.Millisecond
	}
	for i := range 30 {
		want := before
		code := signalled(t, dir, syscall.SIGTERM, time.Duration(i)*step, args...)
		switch code {
		case 0:
			want = after
		case fault.CodeTerminated, -1: // -1: the signal arrived before main set its handler
			interrupted++
		default:
			t.Fatalf("exit code %d", code)
		}
		if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
			t.Fatalf("tree after exit code %d (-want +got):\n%s", code, diff)
		}
		if code == 0 {
			dir = copied(t, project)
		}
	}
	if interrupted == 0 {
		t.Error("no run was interrupted")
	}
}

// signalled starts operon in dir, sends it a signal after a delay and returns its exit
// code, or -1 when the signal killed it. Unless killed, it must remove its temporary
// files.
func signalled(t *testing.T, dir string, sig syscall.Signal, delay time.Duration, args ...string) int {
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
	time.Sleep(delay)
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
