//go:build unix && testall

package interrupt

import (
	"os"
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

// TestInterruptOften sends signals at many moments of a command. Afterwards the tree is the one
// before, or the finished command's, including folders and modes. SIGKILL may leave
// another tree, which the next command restores.
func TestInterruptOften(t *testing.T) {
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
			for i := range 10 {
				dir := filepath.Join(t.TempDir(), "fleet")
				treetest.MakeDir(t, dir)
				code := signalled(t, dir, tc.signal, pause(time.Duration(i)*8*time.Millisecond), operontest.InitArgs...)
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

// TestInterruptGenerate interrupts a command while it generates.
func TestInterruptGenerate(t *testing.T) {
	dir := operontest.InitProject(t)
	before := listing(t, dir)
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate"}
	for i := range 6 {
		code := signalled(t, dir, syscall.SIGINT, pause(time.Duration(30+i*60)*time.Millisecond), create...)
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
	interrupted, step := 0, 12*time.Millisecond
	if slices.Contains(args, "apiextensions") {
		step = 80 * time.Millisecond
	}
	for i := range 8 {
		want := before
		code := signalled(t, dir, syscall.SIGTERM, pause(time.Duration(i)*step), args...)
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

func copied(t *testing.T, project string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet")
	if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
		t.Fatal(err)
	}
	return dir
}
