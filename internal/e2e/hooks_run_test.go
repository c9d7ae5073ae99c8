//go:build testall

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/shelloperator"
)

// hooks is a running `operon hooks run` with hooks from testdata.
type hooks struct {
	*child
	t       *testing.T
	cluster *controlPlane
	dir     string // a copy of the hooks
	temp    string // the temporary folder of the run
	state   string // a folder for files that hooks and test exchange
	output  log
}

// runHooks starts the hooks of a folder in testdata on a cluster.
func runHooks(t *testing.T, c *controlPlane, folder, ns string, flags ...string) *hooks {
	t.Helper()
	h := &hooks{t: t, cluster: c, dir: t.TempDir(), temp: t.TempDir(), state: t.TempDir()}
	if err := os.CopyFS(h.dir, os.DirFS(filepath.Join("testdata", folder))); err != nil {
		t.Fatal(err)
	}
	var err error
	h.child, err = start("operon", func(cmd *exec.Cmd) {
		cmd.Args = append(append(cmd.Args, "hooks", "run", "--engine", shellOperator(t), "--hooks", h.dir, "--namespace", ns), flags...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "TMPDIR="+h.temp, "STATE="+h.state)
		cmd.Stdout, cmd.Stderr = &h.output, &h.output
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.kill()
		if t.Failed() {
			t.Logf("operon hooks run %s:\n%s", strings.Join(flags, " "), h.output.String())
		}
	})
	return h
}

// shellOperator returns the path of shell-operator, which it builds unless it is in the user's cache.
func shellOperator(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), "XDG_DATA_HOME="+filepath.Join(cache, "operon-dev"))
	path, err := shelloperator.Build(t.Context(), environment, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// awaitOutput waits until the output contains a text.
func (h *hooks) awaitOutput(text string) {
	h.t.Helper()
	eventually(h.t, fmt.Sprintf("print %q", text), func() error {
		select {
		case <-h.done:
			return fmt.Errorf("operon hooks run ended: %w", h.err)
		default:
		}
		if !strings.Contains(h.output.String(), text) {
			return errors.New("not printed")
		}
		return nil
	})
}

// awaitLines waits until hooks have written that many lines to a file in state.
func (h *hooks) awaitLines(name string, lines int) (all []string) {
	h.t.Helper()
	eventually(h.t, "write "+name, func() error {
		text, err := os.ReadFile(filepath.Join(h.state, name))
		all = strings.SplitAfter(string(text), "\n")
		all = all[:len(all)-1] // the last line may be incomplete
		if err == nil && len(all) < lines {
			err = fmt.Errorf("%d lines, want %d", len(all), lines)
		}
		return err
	})
	return all
}

// save edits a hook and replaces the file by a rename, as editors do.
func (h *hooks) save(name string, replace ...string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	next := strings.NewReplacer(replace...).Replace(string(content))
	if next == string(content) {
		h.t.Fatalf("the edit does not change %s", name)
	}
	if err := os.WriteFile(path+"~", []byte(next), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		h.t.Fatal(err)
	}
}
