package watch

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// watcher is a running command that watches a project, such as `operon generate --watch`, with its output.
type watcher struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	ended chan error // receives the result when the command ends

	mu      sync.Mutex
	printed bytes.Buffer
	read    int // the length of the output that expect has matched
	more    chan struct{}
}

// Write implements io.Writer for the output of the command.
func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.printed.Write(b)
	select {
	case w.more <- struct{}{}:
	default:
	}
	return n, err
}

// text returns all output so far.
func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.printed.String()
}

// watching starts a watch of dir without a terminal.
func watching(t *testing.T, dir string, args ...string) *watcher {
	t.Helper()
	return watchingEnv(t, operontest.Environ(), dir, args...)
}

// watchingEnv starts a watch with other environment variables.
func watchingEnv(t *testing.T, env []string, dir string, args ...string) *watcher {
	t.Helper()
	return startWatcher(t, env, dir, append([]string{"generate", "--watch"}, args...)...)
}

// startWatcher starts a command of operon that watches dir.
func startWatcher(t *testing.T, env []string, dir string, args ...string) *watcher {
	t.Helper()
	w := &watcher{t: t, dir: dir, ended: make(chan error, 1), more: make(chan struct{}, 1)}
	w.cmd = exec.Command("operon", args...)
	w.cmd.Dir, w.cmd.Env = dir, env
	w.cmd.Stdout, w.cmd.Stderr = w, w
	w.start()
	return w
}

func (w *watcher) start() {
	w.t.Helper()
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { w.ended <- w.cmd.Wait(); close(ended) }()
	w.t.Cleanup(func() { _ = w.cmd.Process.Kill(); <-ended })
}

// expect waits for a line after those that it has matched before.
func (w *watcher) expect(pattern string) {
	w.t.Helper()
	line := regexp.MustCompile("(?m)" + pattern)
	deadline := time.After(2 * time.Minute)
	for {
		text := w.text()
		if at := line.FindStringIndex(text[w.read:]); at != nil {
			w.read += at[1]
			return
		}
		select {
		case <-w.more:
		case <-deadline:
			w.t.Fatalf("no %s after byte %d of:\n%s", pattern, w.read, text)
		}
	}
}

// stop ends operon run and its manager.
func (w *watcher) stop() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	w.expect(`^end\nstopped$`)
	w.exit(0)
}

// exit waits for the end of the command.
func (w *watcher) exit(code int) {
	w.t.Helper()
	select {
	case <-w.ended:
		if got := w.cmd.ProcessState.ExitCode(); got != code {
			w.t.Fatalf("exit code %d, want %d:\n%s", got, code, w.text())
		}
	case <-time.After(time.Minute):
		w.t.Fatalf("the command does not end:\n%s", w.text())
	}
}

// save replaces a file by a rename, as editors do.
func (w *watcher) save(name, content string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.WriteFile(file+"~", []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(file+"~", file); err != nil {
		w.t.Fatal(err)
	}
}

// edit replaces a text in a file and saves it.
func (w *watcher) edit(name, before, after string) {
	w.t.Helper()
	src := treetest.ReadFile(w.t, filepath.Join(w.dir, name))
	if !strings.Contains(src, before) {
		w.t.Fatalf("%s lacks %q", name, before)
	}
	w.save(name, strings.Replace(src, before, after, 1))
}

// current checks in another process that the generated files are current.
func (w *watcher) current() {
	w.t.Helper()
	if out := operontest.Run(w.t, w.dir, "generate", "--check", "--no-cache"); out != "generated files are current\n" {
		w.t.Fatalf("after\n%s\ngenerate --check prints:\n%s", w.text(), out)
	}
}
