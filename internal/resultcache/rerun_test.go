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

// TestMain makes this binary a program as well. As `generate` it prints what
// TEXT says, as if it had come to that by looking at what the lists LOOKED and
// READ name, and keeps that; unless the package answers, before main. Meanwhile
// somebody removes what GONE names.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "generate" {
		os.Exit(m.Run())
	}
	text := os.Getenv("TEXT")
	_, _ = os.Stderr.WriteString("warning\n")
	_, _ = os.Stdout.WriteString(text)
	_ = os.Remove(os.Getenv("GONE"))
	until, err := time.Parse(time.RFC3339, os.Getenv("UNTIL"))
	if err != nil {
		panic(err)
	}
	run := Run{
		Texts:  []Text{{true, []byte("warning\n")}, {false, []byte(text)}},
		Looked: filepath.SplitList(os.Getenv("LOOKED")),
		Read:   filepath.SplitList(os.Getenv("READ")),
		Until:  until,
	}
	dir := Folder(os.Getenv)
	if file, content, ok := run.Record(dir); ok && dir != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(0)
}

// program is this binary, run in a folder of its own.
type program struct {
	t           *testing.T
	binary, dir string
	args, env   []string
}

// newProgram has a folder with files, all of them long settled.
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
	for _, dir := range []string{"bin", "project/looked", "project/read", "other"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("read/file", "content")
	p.write("looked/file", "content")
	p.env = append(os.Environ(), "OPERON_CACHE="+filepath.Join(root, "cache"), "UNTIL=2100-01-01T00:00:00Z",
		"LOOKED="+p.list("looked", "looked/file", "looked/gone"), "READ="+p.list("read", "read/file", "gone"))
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

// settle waits until what was written counts as written before what comes.
func (p *program) settle() { time.Sleep(60 * time.Millisecond) }

// run runs the program, which would print text, and returns what it prints.
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

func TestAnswers(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	for _, text := range []string{"first", "second", "third"} {
		if got := p.run(text); got != "first" {
			t.Errorf("the %s run says %q", text, got)
		}
	}
	p.write("looked/new", "") // in a folder whose entries do not count
	p.write("beside", "")
	p.env = append(p.env, "SHLVL=7")
	if got := p.run("fourth"); got != "first" {
		t.Errorf("what does not matter does: %q", got)
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
		t.Error("the environment can be read from the record")
	}
}

// TestUnprinted has the command itself say that its output cannot be printed.
func TestUnprinted(t *testing.T) {
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
		t.Error("it ends as if all were said")
	}
}

// TestAsks has each kind of change, and a record that is none.
func TestAsks(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	changes := map[string]func(p *program){
		"file edited":         func(p *program) { p.write("read/file", "another") },
		"looked at, edited":   func(p *program) { p.write("looked/file", "another") },
		"file removed":        func(p *program) { _ = os.Remove(p.path("read/file")) },
		"looked at, removed":  func(p *program) { _ = os.Remove(p.path("looked/file")) },
		"now there":           func(p *program) { p.write("gone", "") },
		"now there, looked":   func(p *program) { p.write("looked/gone", "") },
		"new in folder":       func(p *program) { p.write("read/new", "") },
		"folder moved":        func(p *program) { _ = os.Rename(p.path("looked"), p.path("moved")) },
		"other argument":      func(p *program) { p.args = append(p.args, "--diff") },
		"other command":       func(p *program) { p.args = []string{"generate", ""} },
		"other folder":        func(p *program) { p.dir = filepath.Join(filepath.Dir(p.dir), "other") },
		"other environment":   func(p *program) { p.env = append(p.env, "GOFLAGS=-trimpath=true") },
		"other path":          func(p *program) { p.env = append(p.env, "PATH="+p.dir) },
		"cache off":           func(p *program) { p.env = append(p.env, "OPERON_CACHE=off") },
		"other cache":         func(p *program) { p.env = append(p.env, "OPERON_CACHE="+p.path("cache")) },
		"record flipped":      func(p *program) { p.damage(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) },
		"record cut":          func(p *program) { p.damage(func(b []byte) []byte { return b[:len(b)-1] }) },
		"record empty":        func(p *program) { p.damage(func([]byte) []byte { return nil }) },
		"record of elsewhere": func(p *program) { p.damage(func(b []byte) []byte { return record{until: 1 << 40}.encode(key{}) }) },
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
			_ = os.Rename(p.path("looked"), p.path("moved"))
			_ = os.Symlink("moved", p.path("looked"))
		}
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			if got := p.run("first"); got != "first" {
				t.Fatalf("the first run says %q", got)
			}
			if got := p.run("second"); got != "first" {
				t.Fatalf("the second run says %q", got)
			}
			p.settle()
			change(p)
			if got := p.run("third"); got != "third" {
				t.Errorf("after the change it says %q", got)
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

// TestKeepsNothing where a change might not show, or the answer is of the past.
func TestKeepsNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *program){
		"changed meanwhile": func(p *program) { p.env = append(p.env, "GONE="+p.path("read/file")) },
		"new year":          func(p *program) { p.env = append(p.env, "UNTIL=2001-01-01T00:00:00Z") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			change(p)
			p.run("first")
			if got := p.run("second"); got != "second" {
				t.Errorf("the second run says %q", got)
			}
		})
	}
}
