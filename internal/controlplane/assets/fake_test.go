package assets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/pins"
)

// The test binary acts as every program. Linked as "go", it is a go command that links
// itself as the programs, which then print their versions. FAKE_MODE defines how it
// behaves. In FAKE_DIR, it exchanges files with the test.
func TestMain(m *testing.M) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	switch {
	case name == "go":
		os.Exit(fakeGo(os.Args[1:]))
	case os.Getenv("FAKE_MODE") == "wrong" && name == "kubectl":
		fmt.Println("Client Version: v0.0.0-master")
	case name == "etcd":
		v, _ := etcdVersion()
		fmt.Println("etcd Version:", v)
	case os.Getenv("FAKE_MODE") == "wrong-added" && name == ControllerManager:
		fmt.Println("Kubernetes v1.2.3")
	case name == "kube-apiserver" || name == ControllerManager:
		fmt.Println("Kubernetes v" + pins.Kubernetes)
	case name == "kubectl":
		fmt.Println("Client Version: v" + pins.Kubernetes)
	case os.Getenv("FAKE_MODE") != "":
		o := Options{Env: os.Environ(), Root: os.Getenv("FAKE_ROOT")}
		dir, err := buildIn(context.Background(), o, func(line string) { fmt.Fprintln(os.Stderr, line) })
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(filepath.ToSlash(dir))
	default:
		os.Exit(m.Run())
	}
}

// buildIn builds the pinned version in the store that o describes.
func buildIn(ctx context.Context, o Options, progress Progress) (string, error) {
	s, err := Open(o)
	if err != nil {
		return "", err
	}
	return s.Build(ctx, "", progress)
}

func fakeGo(args []string) int {
	meet := os.Getenv("FAKE_DIR")
	mode := os.Getenv("FAKE_MODE")
	switch {
	case args[0] == "env" && mode == "fail-env":
		fmt.Fprintln(os.Stderr, os.Getenv("FAKE_TEXT"))
		return 1
	case args[0] == "env":
		_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"GOFLAGS": os.Getenv("GOFLAGS"), "GOTMPDIR": os.Getenv("GOTMPDIR")})
		return 0
	case args[0] == "hold":
		hold(meet, "grandchild")
		return 0
	}
	record(filepath.Join(meet, "calls"), strings.Join(args, " ")+
		"\n  GOFLAGS="+os.Getenv("GOFLAGS")+" GOWORK="+os.Getenv("GOWORK")+" GOPROXY="+os.Getenv("GOPROXY"))
	out := args[slices.Index(args, "-o")+1]
	switch mode {
	case "fail":
		fmt.Fprintln(os.Stderr, "go: downloading example.com/a v1.0.0\nexample.com/a/b\n"+os.Getenv("FAKE_TEXT"))
		return 1
	case "partial":
		return linkSelf(out, "kubectl")
	case "hang":
		_ = os.WriteFile(filepath.Join(out, executable(path.Base(args[len(args)-1]))), []byte("half"), 0o755)
		child := exec.Command(os.Args[0], "hold")
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			return 1
		}
		hold(meet, "child")
		return 1
	case "wait":
		await(filepath.Join(meet, "proceed"))
	}
	var names []string
	for _, arg := range args[slices.Index(args, "-o")+2:] {
		names = append(names, path.Base(strings.TrimSuffix(arg, "/v3")))
	}
	return linkSelf(out, names...)
}

// hold keeps a lock until this process ends. A file named stop ends it, so that it does
// not survive a failed test for long.
func hold(dir, name string) {
	_ = flock.New(filepath.Join(dir, name)).Lock()
	record(filepath.Join(dir, name+".started"), "")
	await(filepath.Join(dir, "stop"))
}

func linkSelf(dir string, names ...string) int {
	for _, name := range names {
		if err := link(filepath.Join(dir, executable(name))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// link makes the running test binary available under another name. (Windows does not
// allow writing to a running program.)
func link(at string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && os.Link(self, at) == nil {
		return nil
	}
	in, err := os.Open(self)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func record(file, line string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, _ = fmt.Fprintln(f, line)
		_ = f.Close()
	}
}

// await returns when the file is there, or after a minute.
func await(file string) bool {
	for range 6000 {
		if _, err := os.Stat(file); err == nil {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// world is the environment of one test: a fake go command in PATH, an empty store, and the
// folder for files of the fake.
type world struct {
	t    *testing.T
	root string
	meet string
	env  []string
}

func newWorld(t *testing.T, mode string, env ...string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, root: filepath.Join(dir, "store"), meet: filepath.Join(dir, "meet")}
	path := filepath.Join(dir, "path")
	for _, d := range []string{w.meet, path} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := link(filepath.Join(path, executable("go"))); err != nil {
		t.Fatal(err)
	}
	w.env = append([]string{"PATH=" + path, "HOME=" + dir, "FAKE_DIR=" + w.meet, "FAKE_ROOT=" + w.root,
		"SystemRoot=" + os.Getenv("SystemRoot"), "GORACE=atexit_sleep_ms=0", "FAKE_MODE=" + mode}, env...)
	t.Cleanup(func() { record(filepath.Join(w.meet, "stop"), "") })
	return w
}

// store opens the world's store; env is added to its environment.
func (w *world) store(env ...string) *Store {
	w.t.Helper()
	s, err := Open(Options{Env: environ.With(w.env, env...), Root: w.root})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// put creates a folder in the store with the named programs.
func (w *world) put(folder string, names ...string) string {
	w.t.Helper()
	dir := filepath.Join(w.root, "k8s", folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range names {
		if err := link(filepath.Join(dir, executable(name))); err != nil {
			w.t.Fatal(err)
		}
	}
	return dir
}

// calls returns the builds that the fake go command was asked for.
func (w *world) calls() string {
	b, _ := os.ReadFile(filepath.Join(w.meet, "calls"))
	return string(b)
}

// leftovers lists the files in operon's own folder of the store, except for the lock.
func (w *world) leftovers() (names []string) {
	entries, _ := os.ReadDir(filepath.Join(w.root, ".operon"))
	for _, e := range entries {
		if e.Name() != "lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

// ends waits until the process that has a lock in the folder ends.
func (w *world) ends(name string) {
	w.t.Helper()
	l := flock.New(filepath.Join(w.meet, name))
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if ok, err := l.TryLockContext(ctx, 10*time.Millisecond); !ok {
		w.t.Errorf("%s is still running: %v", name, err)
	}
}
