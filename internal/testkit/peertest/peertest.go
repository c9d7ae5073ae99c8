package peertest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"golang.org/x/mod/modfile"
)

// Folder replaces the path of the folder that a program works on in its output.
const Folder = "/FOLDER"

// Question describes a run of a program on files.
type Question struct {
	Args  []string
	Env   []string          // added to the environment of this process; the last value of a name counts
	Files map[string]string // by slash-separated path below a new folder, with times years ago
	Dir   string            // the working folder of the program, below that folder
	// Modules limits go.mod and go.sum, as far as a recorded answer depends on them, to the lines that contain it.
	Modules string
}

// Answer is the result of a run.
type Answer struct {
	Code           int
	Stdout, Stderr string            // with Folder in place of the folder
	Written        map[string]string // the files that it wrote, even with the same content as before
}

// Peer is a program to compare with.
type Peer struct {
	Path     string
	identity string // the part of the key that all questions share
}

// Find returns a program that testdata/peers pins.
func Find(t testing.TB, name string) Peer {
	t.Helper()
	once, _ := peers.LoadOrStore(name, sync.OnceValues(func() (Peer, error) { return find(name) }))
	p, err := once.(func() (Peer, error))()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

var peers sync.Map // functions that find a program, by its name

func find(name string) (Peer, error) {
	path, err := build(name)
	if err != nil {
		return Peer{}, err
	}
	return at(path)
}

// OLM returns the path of a program of the Operator Lifecycle Manager: olm, catalog or opm, which
// testdata/peers/olm pins. The first use on a machine compiles its 1,000 packages, which takes minutes of CPU time.
func OLM(t testing.TB, name string) string {
	t.Helper()
	path, err := build(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return path
}

// pinnedIn returns the folder of the module that pins a program, or requires one of the modules that Module finds.
func pinnedIn(name string) string {
	switch path.Base(name) {
	case "controller-gen", "helm", "kubebuilder":
		return repository.Path("testdata", "peers")
	case "operator-sdk":
		return repository.Path("testdata", "peers", "operator-sdk")
	}
	return repository.Path("testdata", "peers", "olm")
}

// Module returns the folder with the sources of operator-sdk or of a module of OLM.
func Module(t testing.TB, module string) string {
	t.Helper()
	dir, err := goCommand(pinnedIn(module), "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(dir)
}

// build builds a pinned program, and returns its path in the user's cache folder. With -trimpath, which go tool
// does not use, it shares compiled packages with operon.
func build(name string) (file string, err error) {
	module := pinnedIn(name)
	var parts []string
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		parts = append(parts, string(content))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	pkg, err := goCommand(module, "tool")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(pkg) {
		if line = strings.TrimSpace(line); path.Base(majorVersion.ReplaceAllString(line, "")) == name {
			pkg = line
		}
	}
	key := store.KeyOf(append(parts, runtime.Version())...)
	dir := filepath.Join(cache, "operon-dev", "peers", hex.EncodeToString(key[:8]))
	file = filepath.Join(dir, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(dir, "build-") // tests that run at the same time can build the same program
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	next := filepath.Join(temp, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s", "-tags=containers_image_openpgp", "-o", next, pkg)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return file, os.Rename(next, file)
}

// majorVersion is the end of the path of a main package that is the root of its module.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// Go returns the go command itself. Its verdict on sources depends on the sources alone.
func Go(t testing.TB) Peer {
	t.Helper()
	p, err := goPeer()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var goPeer = sync.OnceValues(func() (Peer, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return Peer{}, err
	}
	return at(path)
})

// at returns the peer whose program is the file path.
func at(path string) (Peer, error) {
	program, err := os.ReadFile(path)
	if err != nil {
		return Peer{}, err
	}
	settings, err := settings()
	if err != nil {
		return Peer{}, err
	}
	return Peer{Path: path, identity: fmt.Sprintf("%x\n%s", store.KeyOf(string(program)), settings)}, nil
}

// Identity returns a text that changes with the program and with the settings of the go command, as a part of
// the key of Cached.
func (p Peer) Identity() string { return p.identity }

// settings returns the settings of the go command, and the identity of its C compiler.
func settings() (string, error) {
	out, err := goCommand(os.TempDir(), "env")
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(out, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "GOGCCFLAGS=") // it names a new folder each time
	})
	cc, err := goCommand(os.TempDir(), "env", "CC")
	if err != nil {
		return "", err
	}
	if name, err := exec.LookPath(strings.TrimSpace(cc)); err == nil {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano()))
	}
	return strings.Join(append(lines, os.Getenv("GOPACKAGESDRIVER")), ""), nil
}

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// Ask returns what is recorded about a run of a program that testdata/peers pins: Short texts, and Sums of the
// files that it wrote.
func Ask(t testing.TB, name, program string, q Question) Answer {
	t.Helper()
	return answers.Ask(t, name, Recorded(t, program, q), func() Answer {
		a := Find(t, program).Run(t, q)
		return Answer{a.Code, answers.Short(a.Stdout), answers.Short(a.Stderr), answers.Sums(a.Written)}
	})
}

// Recorded returns a question to a pinned program in the form of package answers.
func Recorded(t testing.TB, program string, q Question) answers.Question {
	t.Helper()
	version, err := pinnedVersion(program)
	if err != nil {
		t.Fatal(err)
	}
	parts := append([]string{q.Dir, fmt.Sprint(len(q.Args), len(q.Env))}, q.Args...)
	files := maps.Clone(q.Files)
	for name, content := range files {
		if base := path.Base(name); q.Modules != "" && (base == "go.mod" || base == "go.sum") {
			lines := slices.Collect(strings.Lines(content))
			files[name] = strings.Join(slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, q.Modules) }), "")
		}
	}
	return answers.Question{Peer: program + " " + version, Parts: append(parts, q.Env...), Files: files}
}

// moduleOf has the module of each program whose answers are recorded.
var moduleOf = map[string]string{"controller-gen": "sigs.k8s.io/controller-tools", "kubebuilder": "sigs.k8s.io/kubebuilder/v4"}

// pinnedVersion returns the version of a program that testdata/peers pins.
func pinnedVersion(program string) (string, error) {
	file := filepath.Join(pinnedIn(program), "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	mod, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == moduleOf[program] {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not pin %s", file, program)
}

// Ask returns the cached answer to a question, or the answer of a run. A failure is cached when
// it occurs a second time.
func (p Peer) Ask(t testing.TB, q Question) Answer {
	t.Helper()
	key := p.key(q)
	return Cached(t, key, func() (Answer, bool) {
		a := p.Run(t, q)
		return a, a.cacheable() && (a.Code == 0 || failedBefore(t, key, a))
	})
}

// failedBefore reports whether a question failed in the same way before. A single failure may
// be due to a full disk or a killed compiler.
func failedBefore(t testing.TB, key []string, a Answer) bool {
	t.Helper()
	seen := true
	Cached(t, append(key, fmt.Sprintf("failed: %#v", a)), func() (bool, bool) {
		seen = false
		return true, true
	})
	return seen
}

// key returns all inputs of an answer, except for the module cache, where a version of a
// module never changes.
func (p Peer) key(q Question) []string {
	parts := append([]string{p.identity, q.Dir, fmt.Sprint(len(q.Args), len(q.Env))}, q.Args...)
	parts = append(parts, q.Env...)
	for _, name := range slices.Sorted(maps.Keys(q.Files)) {
		parts = append(parts, name, q.Files[name])
	}
	return parts
}

// cacheable reports whether a later run gives the same answer. It may not if the program was
// killed, or lacked a module that may be in the module cache later.
func (a Answer) cacheable() bool { return a.Code >= 0 && !strings.Contains(a.Stderr, "GOPROXY=off") }

// Run answers a question without the cache.
func (p Peer) Run(t testing.TB, q Question) Answer {
	t.Helper()
	a, err := p.run(q)
	if err != nil {
		t.Fatalf("%s %s: %v", filepath.Base(p.Path), strings.Join(q.Args, " "), err)
	}
	return a
}

// old is the time of the files before a run.
var old = time.Unix(1, 0)

func (p Peer) run(q Question) (Answer, error) {
	folder, err := os.MkdirTemp("", "peer-")
	if err != nil {
		return Answer{}, err
	}
	defer os.RemoveAll(folder)
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return Answer{}, err
	}
	for name, content := range q.Files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		if err := put(name, content); err != nil {
			return Answer{}, err
		}
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command(p.Path, q.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(folder, q.Dir), &stdout, &stderr
	// Garbage collection does not pay in so short a run.
	cmd.Env = append(append(os.Environ(), "GOGC=off", "GOMEMLIMIT=1GiB"), q.Env...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return Answer{}, err
	}
	written, err := writtenBelow(folder)
	return Answer{
		Code:   cmd.ProcessState.ExitCode(),
		Stdout: strings.ReplaceAll(stdout.String(), folder, Folder), Stderr: strings.ReplaceAll(stderr.String(), folder, Folder),
		Written: written,
	}, err
}

func put(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Chtimes(name, old, old)
}

// writtenBelow returns the files whose time has changed.
func writtenBelow(folder string) (map[string]string, error) {
	written := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.ModTime().Equal(old) {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(folder, name)
		written[filepath.ToSlash(rel)] = string(content)
		return err
	})
	return written, err
}
