package assets

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// journal collects progress lines, and can wait for one.
type journal struct {
	mu    sync.Mutex
	lines []string
	seen  chan string
}

func newJournal() *journal { return &journal{seen: make(chan string, 100)} }

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	j.seen <- line
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

func (j *journal) until(part string) {
	for line := range j.seen {
		if strings.Contains(line, part) {
			return
		}
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok", "GOFLAGS=-mod=vendor -race -p=1 -json -tags=a", "GOWORK=/w/go.work", "GOPROXY=https://proxy.example")
	first, second := newJournal(), newJournal()
	dir, err := w.store().Build(t.Context(), "1.37", first.add)
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if want := filepath.Join(w.root, "k8s", pins.Kubernetes+"-"+platform()); dir != want {
		t.Errorf("got %q, want %q", dir, want)
	}
	if got, err := w.store().Path(""); err != nil || got != dir {
		t.Errorf("path: %q, %v", got, err)
	}
	if got := names(t, dir); got != strings.Join([]string{executable("etcd"), executable("kube-apiserver"), executable(ControllerManager), executable("kubectl")}, " ") {
		t.Errorf("the folder has %s", got)
	}
	for _, part := range []string{"building etcd, kube-apiserver, kube-controller-manager and kubectl for Kubernetes " + pins.Kubernetes, "etcd is built", "kubectl is built"} {
		if !strings.Contains(first.String(), part) {
			t.Errorf("progress lacks %q:\n%s", part, first)
		}
	}
	for _, part := range []string{"GOFLAGS=-mod=readonly -p=1 GOWORK=off GOPROXY=https://proxy.example", "gitVersion=v" + pins.Kubernetes} {
		if !strings.Contains(w.calls(), part) {
			t.Errorf("go was called without %q:\n%s", part, w.calls())
		}
	}
	if l := w.leftovers(); l != nil {
		t.Errorf("left behind: %v", l)
	}

	if again, err := w.store("PATH=").Build(t.Context(), "", second.add); err != nil || again != dir {
		t.Errorf("again: %q, %v", again, err)
	}
	if got := second.String(); got != "already there: "+filepath.Base(dir) {
		t.Errorf("again: progress %q", got)
	}
}

func TestBuildOtherVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	for _, version := range []string{"1.36", "1.36.3", "1.37.99"} {
		_, err := w.store().Build(t.Context(), version, nil)
		checkFault(t, err, fault.CodeUsage, "Kubernetes "+version+" cannot be built; only "+pins.Kubernetes+" can", "--k8s-version "+pins.Kubernetes)
	}
	_, err := w.store().Build(t.Context(), "newest", nil)
	checkFault(t, err, fault.CodeUsage, "not of the form", "")
	if _, err := os.Stat(w.root); err == nil {
		t.Error("a rejected build created the store")
	}
	have := w.put("1.36.3-"+platform(), programs...)
	if got, err := w.store().Build(t.Context(), "1.36", nil); err != nil || got != have {
		t.Errorf("a version in the store: %q, %v", got, err)
	}
	newer := w.put("1.37.99-"+platform(), programs...)
	if got, err := w.store().Build(t.Context(), "1.37", nil); err != nil || got != newer {
		t.Errorf("a newer patch in the store: %q, %v", got, err)
	}
}

func TestBuildFailures(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, mode, text, err, hint string }{
		{"compiler", "fail", "# k8s.io/a\na.go:1:2: undefined: b\n# k8s.io/a", "go build: exit status 1:\n  # k8s.io/a\n  a.go:1:2: undefined: b", ""},
		{"long line", "fail", strings.Repeat("gcc: ", 1000), "gcc: ...", ""},
		{"no output", "fail", "", "go build: exit status 1", ""},
		{"disk", "fail", "link: write /x: no space left on device", "no space left on device", "5 GB"},
		{"proxy off", "fail", "go: a@v1: module lookup disabled by GOPROXY=off", "GOPROXY=off", "set GOPROXY"},
		{"no proxy", "fail", `go: a@v1: Get "https://proxy.example/a": dial tcp: lookup proxy.example: no such host`, "no such host", "set GOPROXY"},
		{"refused", "fail", "go: a@v1: reading https://proxy.example/a: 403 Forbidden", "403", "set GOPROXY"},
		{"memory", "fail", "k8s.io/a: /go/link: signal: killed", "signal: killed", "GOFLAGS=-p=1"},
		{"old go", "fail-env", "go: go.mod requires go >= 1.26.0 (running go 1.25.1; GOTOOLCHAIN=local)", "requires go >= 1.26.0", "GOTOOLCHAIN=auto"},
		{"very old go", "fail-env", "go: errors parsing go.mod:\ngo.mod:6: invalid go version '1.26.0': must match format 1.23", "invalid go version", "newer Go"},
		{"no toolchain", "fail-env", "go: download go1.26.0 for linux/amd64: toolchain not available", "toolchain", "newer Go"},
		{"partial", "partial", "", executable("server"), ""},
		{"wrong version", "wrong", "", `kubectl version --client: printed "Client Version: v0.0.0-master", not "Client Version: v` + pins.Kubernetes + `"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.mode, "FAKE_TEXT="+tt.text)
			_, err := w.store().Build(t.Context(), "", nil)
			checkFault(t, err, fault.CodeFailed, tt.err, tt.hint)
			if l := w.leftovers(); l != nil {
				t.Errorf("left behind: %v", l)
			}
			if got := names(t, filepath.Join(w.root, "k8s")); got != "" {
				t.Errorf("the store has %s", got)
			}
		})
	}
}

func TestBuildWithoutGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	_, err := w.store("PATH=relative").Build(t.Context(), "", nil)
	checkFault(t, err, fault.CodeFailed, "not in PATH", "https://go.dev/dl")
}

// An incomplete folder of another tool is replaced, even if it is read-only, as
// setup-envtest creates folders.
func TestBuildReplacesIncomplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	dir := w.put(pins.Kubernetes+"-"+platform(), "etcd")
	truncatedSelf(t, filepath.Join(dir, executable("kubectl")))
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if got, err := w.store().Build(t.Context(), "", nil); err != nil || got != dir {
		t.Fatalf("got %q, %v", got, err)
	}
	if _, err := w.store().Path(""); err != nil {
		t.Error(err)
	}
	if l := w.leftovers(); l != nil {
		t.Errorf("left behind: %v", l)
	}
}

func TestBuildTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "wait")
	type result struct {
		dir string
		err error
	}
	build := func(j *journal) <-chan result {
		done := make(chan result, 1)
		go func() {
			dir, err := w.store().Build(t.Context(), "", j.add)
			done <- result{dir, err}
		}()
		return done
	}
	first, second := newJournal(), newJournal()
	a := build(first)
	first.until("building etcd")
	b := build(second)
	second.until("waiting")

	// A waiting build can be interrupted.
	ctx, cancel := context.WithCancel(t.Context())
	third := newJournal()
	go func() {
		third.until("waiting")
		cancel()
	}()
	if _, err := w.store().Build(ctx, "", third.add); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted wait: %v", err)
	}

	record(filepath.Join(w.meet, "proceed"), "")
	ra, rb := <-a, <-b
	if ra.err != nil || rb.err != nil || ra.dir != rb.dir {
		t.Fatalf("got %v and %v", ra, rb)
	}
	if !strings.Contains(second.String(), "already there") {
		t.Errorf("the second build did not use the result of the first:\n%s", second)
	}
	if n := strings.Count(w.calls(), "build -v"); n != 1 {
		t.Errorf("go built %d times", n)
	}
}

func TestBuildCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "hang")
	ctx, cancel := context.WithCancelCause(t.Context())
	signal := errors.New("interrupt")
	go func() {
		await(filepath.Join(w.meet, "child.started"))
		await(filepath.Join(w.meet, "grandchild.started"))
		cancel(signal)
	}()
	_, err := w.store().Build(ctx, "", nil)
	if !errors.Is(err, signal) {
		t.Errorf("got %v, want the cause", err)
	}
	w.ends("child")
	w.ends("grandchild")
	if l := w.leftovers(); l != nil {
		t.Errorf("left behind: %v", l)
	}
}

func TestBuildKilled(t *testing.T) {
	t.Parallel()
	t.Run("new", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "hang")
		w.killBuild()
		_, err := w.store().Path("")
		checkFault(t, err, fault.CodeFailed, "no control plane", "operon envtest build")
		w.buildAfterKill()
	})
	t.Run("adding a program", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "hang")
		dir := w.put(pins.Kubernetes+"-"+platform(), programs...)
		w.killBuild()
		if got, err := w.store().Path(""); err != nil || got != dir {
			t.Errorf("the programs for tests: %q, %v", got, err)
		}
		if got := names(t, dir); strings.Contains(got, ControllerManager) {
			t.Errorf("a killed build left %s", got)
		}
		w.buildAfterKill()
	})
}

// killBuild builds in another process and kills it, as kill -9 does, while go and its
// children are running. None of them may survive.
func (w *world) killBuild() {
	t := w.t
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	operon := exec.Command(self)
	operon.Env = w.env
	var errs bytes.Buffer
	operon.Stderr = &errs
	if err := operon.Start(); err != nil {
		t.Fatal(err)
	}
	if !await(filepath.Join(w.meet, "child.started")) || !await(filepath.Join(w.meet, "grandchild.started")) {
		t.Error("the build did not start")
	}
	if err := operon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = operon.Wait()
	if runtime.GOOS == "linux" || runtime.GOOS == "windows" {
		w.ends("child")
	}
	if w.leftovers() == nil {
		t.Errorf("the build ended before it was killed: %s", errs.String())
	}
}

// buildAfterKill builds again, like the next command of the user.
func (w *world) buildAfterKill() {
	w.t.Helper()
	dir, err := w.store("FAKE_MODE=ok").Build(w.t.Context(), "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := complete(dir, withControllers); err != nil {
		w.t.Error(err)
	}
	if l := w.leftovers(); l != nil {
		w.t.Errorf("left behind: %v", l)
	}
}

// The embedded module must have the pinned versions; `make pins` updates both.
func TestEmbeddedModule(t *testing.T) {
	t.Parallel()
	file, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]bool{}
	for _, tool := range file.Tool {
		tools[tool.Path] = true
	}
	for _, name := range withControllers {
		if pkg := mainPackage(name); !tools[pkg] {
			t.Errorf("no tool line for %s", pkg)
		}
	}
	for _, r := range file.Require {
		if r.Mod.Path == "k8s.io/kubernetes" && r.Mod.Version != "v"+pins.Kubernetes {
			t.Errorf("requires %s, the pin is %s", r.Mod, pins.Kubernetes)
		}
	}
	staging := "v0" + strings.TrimPrefix(pins.Kubernetes, "1")
	for _, r := range file.Replace {
		if r.Old.Path != r.New.Path || r.New.Version != staging {
			t.Errorf("replaces %s by %s, want %s", r.Old, r.New, staging)
		}
	}
}

// names returns the sorted entries of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}
