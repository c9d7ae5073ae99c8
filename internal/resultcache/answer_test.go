package resultcache

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain makes this binary a program with a result cache. As `generate`, it first
// tries to answer from the cache. Otherwise it prints TEXT and caches that as a
// result that depends on the paths in CHECKED and READ. While it runs, the file GONE
// is removed.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "generate" {
		os.Exit(m.Run())
	}
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	working, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	process := Process{Program: binary, Dir: working, Args: os.Args[1:], Environ: os.Environ(), Out: os.Stdout, Err: os.Stderr}
	dir := Folder(os.Getenv)
	if process.Answer(dir) {
		return
	}
	text := os.Getenv("TEXT")
	_, _ = os.Stderr.WriteString("warning\n")
	_, _ = os.Stdout.WriteString(text)
	_ = os.Remove(os.Getenv("GONE"))
	until, err := time.Parse(time.RFC3339, os.Getenv("UNTIL"))
	if err != nil {
		panic(err)
	}
	result := Result{
		Output:  []Chunk{{true, []byte("warning\n")}, {false, []byte(text)}},
		Checked: filepath.SplitList(os.Getenv("CHECKED")),
		Read:    filepath.SplitList(os.Getenv("READ")),
		Until:   until,
	}
	if file, content, ok := process.Encode(dir, result); ok && dir != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			panic(err)
		}
	}
}

// program is a copy of this binary and the folder that it runs in.
type program struct {
	t           *testing.T
	binary, dir string
	args, env   []string
}

// newProgram creates a folder with files that are old enough to be inputs.
func newProgram(t *testing.T) *program {
	t.Helper()
	root := t.TempDir()
	p := &program{t: t, binary: filepath.Join(root, "bin", "operon.exe"), dir: filepath.Join(root, "project"), args: []string{"generate"}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"bin", "project/checked", "project/read", "other"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("read/file", "content")
	p.write("checked/file", "content")
	p.env = append(os.Environ(), "OPERON_CACHE="+filepath.Join(root, "cache"), "UNTIL=2100-01-01T00:00:00Z",
		"CHECKED="+p.list("checked", "checked/file", "checked/gone"), "READ="+p.list("read", "read/file", "gone"))
	p.settle()
	return p
}

func (p *program) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *program) list(names ...string) string {
	for i, name := range names {
		names[i] = p.path(name)
	}
	return strings.Join(names, string(filepath.ListSeparator))
}

func (p *program) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// settle waits until earlier writes are distinguishable from later ones.
func (p *program) settle() { time.Sleep(60 * time.Millisecond) }

// run runs the program with the given TEXT and returns what it prints.
func (p *program) run(text string) string {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(p.binary, p.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &errs
	cmd.Env = append(slices.Clip(p.env), "TEXT="+text)
	if err := cmd.Run(); err != nil || errs.String() != "warning\n" {
		p.t.Fatalf("%v\n%s", err, &errs)
	}
	return out.String()
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	for _, text := range []string{"first", "second", "third"} {
		if got := p.run(text); got != "first" {
			t.Errorf("the %s run prints %q", text, got)
		}
	}
	p.write("checked/new", "") // in a folder whose entries do not matter
	p.write("beside", "")
	p.env = append(p.env, "SHLVL=7")
	if got := p.run("fourth"); got != "first" {
		t.Errorf("an irrelevant change invalidates the result: %q", got)
	}
	entries, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "cache", "rerun", "*"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	content, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("TERM=")) || bytes.Contains(content, []byte(os.Getenv("PATH"))) {
		t.Error("the entry reveals the environment")
	}
}

// TestWriteError expects the command to run, and to report the error, when the
// cached output cannot be printed.
func TestWriteError(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	for range 2 {
		p.run("first")
	}
	p.write("ran", "")
	closed, err := os.Open(p.path("ran")) // for reading
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	cmd := exec.Command(p.binary, p.args...)
	cmd.Dir, cmd.Stdout = p.dir, closed
	cmd.Env = append(slices.Clip(p.env), "GONE="+p.path("ran"))
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.path("ran")); err == nil {
		t.Error("the command did not run")
	}
}

// TestInvalidation makes each kind of change, and damages the entry.
func TestInvalidation(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	changes := map[string]func(p *program){
		"file edited":              func(p *program) { p.write("read/file", "another") },
		"checked, edited":          func(p *program) { p.write("checked/file", "another") },
		"file removed":             func(p *program) { _ = os.Remove(p.path("read/file")) },
		"checked, removed":         func(p *program) { _ = os.Remove(p.path("checked/file")) },
		"created":                  func(p *program) { p.write("gone", "") },
		"created, checked":         func(p *program) { p.write("checked/gone", "") },
		"new in folder":            func(p *program) { p.write("read/new", "") },
		"folder moved":             func(p *program) { _ = os.Rename(p.path("checked"), p.path("moved")) },
		"other argument":           func(p *program) { p.args = append(p.args, "--diff") },
		"other command":            func(p *program) { p.args = []string{"generate", ""} },
		"other folder":             func(p *program) { p.dir = filepath.Join(filepath.Dir(p.dir), "other") },
		"other environment":        func(p *program) { p.env = append(p.env, "GOFLAGS=-trimpath=true") },
		"other path":               func(p *program) { p.env = append(p.env, "PATH="+p.dir) },
		"cache off":                func(p *program) { p.env = append(p.env, "OPERON_CACHE=off") },
		"other cache":              func(p *program) { p.env = append(p.env, "OPERON_CACHE="+p.path("cache")) },
		"entry with a flipped bit": func(p *program) { p.damage(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) },
		"truncated entry":          func(p *program) { p.damage(func(b []byte) []byte { return b[:len(b)-1] }) },
		"empty entry":              func(p *program) { p.damage(func([]byte) []byte { return nil }) },
		"entry of another key":     func(p *program) { p.damage(func(b []byte) []byte { return entry{until: 1 << 40}.encode(key{}) }) },
		"binary rebuilt": func(p *program) {
			content, err := os.ReadFile(p.binary)
			if err != nil {
				p.t.Fatal(err)
			}
			_ = os.Remove(p.binary)
			if err := os.WriteFile(p.binary, append(content, 0), 0o755); err != nil {
				p.t.Fatal(err)
			}
		},
	}
	if runtime.GOOS != "windows" {
		changes["edited, time set back"] = func(p *program) {
			info, err := os.Stat(p.path("read/file"))
			if err != nil {
				p.t.Fatal(err)
			}
			p.write("read/file", "CONTENT")
			if err := os.Chtimes(p.path("read/file"), old, info.ModTime()); err != nil {
				p.t.Fatal(err)
			}
		}
		changes["link to another"] = func(p *program) {
			_ = os.Rename(p.path("checked"), p.path("moved"))
			_ = os.Symlink("moved", p.path("checked"))
		}
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			if got := p.run("first"); got != "first" {
				t.Fatalf("the first run prints %q", got)
			}
			if got := p.run("second"); got != "first" {
				t.Fatalf("the second run prints %q", got)
			}
			p.settle()
			change(p)
			if got := p.run("third"); got != "third" {
				t.Errorf("after the change it prints %q", got)
			}
		})
	}
}

func (p *program) damage(how func([]byte) []byte) {
	p.t.Helper()
	entries, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "cache", "rerun", "*"))
	if err != nil || len(entries) != 1 {
		p.t.Fatal(entries, err)
	}
	content, err := os.ReadFile(entries[0])
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(entries[0], how(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// TestNotCached expects no answer if an input changed during the run, or the result
// has expired.
func TestNotCached(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *program){
		"changed during the run": func(p *program) { p.env = append(p.env, "GONE="+p.path("read/file")) },
		"new year":               func(p *program) { p.env = append(p.env, "UNTIL=2001-01-01T00:00:00Z") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			change(p)
			p.run("first")
			if got := p.run("second"); got != "second" {
				t.Errorf("the second run prints %q", got)
			}
		})
	}
}
