package peertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
)

// asked is a test that may fail.
type asked struct {
	testing.TB
	failed bool
	ends   []func()
}

func (a *asked) Cleanup(f func()) { a.ends = append(a.ends, f) }
func (a *asked) Failed() bool     { return a.failed }

func (a *asked) end() {
	for _, f := range a.ends {
		f()
	}
}

// ownCache gives the test a cache of its own.
func ownCache(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	before := kept
	kept = func() *store.Store { return store.Open(dir) }
	t.Cleanup(func() { kept = before })
	return dir
}

// TestCached counts how often it asks, and expects the same answer each time.
func TestCached(t *testing.T) {
	dir := ownCache(t)
	for _, tt := range []struct {
		name, from  string
		uncacheable bool
		fails       bool
		before      func(t *testing.T)
		asks        int
	}{
		{name: "first", from: "a", asks: 1},
		{name: "repeated", from: "a"},
		{name: "another key", from: "b", asks: 1},
		{name: "not cacheable", from: "c", uncacheable: true, asks: 1},
		{name: "still not cacheable", from: "c", uncacheable: true, asks: 1},
		{name: "cached, and the test fails", from: "a", fails: true},
		{name: "after the failure", from: "a", asks: 1},
		{name: "damaged", from: "a", asks: 1, before: func(t *testing.T) {
			names, err := filepath.Glob(filepath.Join(dir, kind, "*"))
			if err != nil || len(names) == 0 {
				t.Fatal(names, err)
			}
			for _, name := range names {
				if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{name: "no folder", from: "a", asks: 1, before: func(*testing.T) { kept = func() *store.Store { return nil } }},
	} {
		if tt.before != nil {
			tt.before(t)
		}
		test, asks := &asked{TB: t, failed: tt.fails}, 0
		got := Cached(test, []string{tt.from}, func() (string, bool) {
			asks++
			return "answer to " + tt.from, !tt.uncacheable
		})
		test.end()
		if asks != tt.asks || got != "answer to "+tt.from {
			t.Errorf("%s: asked %d times, want %d; answer %q", tt.name, asks, tt.asks, got)
		}
	}
}

// TestAsk runs a peer that fails at times. A success is cached at once, and a failure if the
// same one occurs again.
func TestAsk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the peer is a shell")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, asks := range map[string][]struct{ prints, want string }{
		"works":            {{"works", "works"}, {"broken", "works"}},
		"fails once":       {{"killed", "killed"}, {"works", "works"}, {"killed", "works"}},
		"fails otherwise":  {{"killed", "killed"}, {"broken", "broken"}, {"works", "works"}},
		"fails each time":  {{"broken", "broken"}, {"broken", "broken"}, {"works", "broken"}},
		"fails, and again": {{"killed", "killed"}, {"broken", "broken"}, {"broken", "broken"}, {"works", "broken"}},
	} {
		t.Run(name, func(t *testing.T) {
			ownCache(t)
			for i, ask := range asks {
				t.Setenv("PEER_PRINTS", ask.prints)
				a := Peer{Path: sh}.Ask(t, Question{Args: []string{"-c", `echo $PEER_PRINTS >&2; test $PEER_PRINTS = works`}})
				if a.Stderr != ask.want+"\n" || (a.Code == 0) != (ask.want == "works") {
					t.Errorf("%d: %+v, want output %s", i, a, ask.want)
				}
			}
		})
	}
}

// TestRun uses gofmt as a peer: the answer has its output, with Folder in place of the
// folder, and the files that it wrote. Another question has another key.
func TestRun(t *testing.T) {
	t.Parallel()
	path, err := goCommand(".", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	gofmt := Peer{Path: filepath.Join(filepath.Clean(path[:len(path)-1]), "bin", "gofmt")}
	q := Question{Args: []string{"-l", "-w", "."}, Files: map[string]string{"in/a.go": "package  a\n", "in/b.go": "package b\n", "in/c.go": "package {\n"}, Dir: "in"}
	a := gofmt.Run(t, q)
	if a.Code != 2 || a.Stdout != "a.go\n" || len(a.Written) != 1 || a.Written["in/a.go"] != "package a\n" {
		t.Errorf("%+v", a)
	}
	q.Args = []string{"-l", filepath.Join("..", "in")}
	if a := gofmt.Run(t, q); a.Stdout != filepath.Join("..", "in", "a.go")+"\n" || len(a.Written) != 0 {
		t.Errorf("%+v", a)
	}
	keys := map[store.Key]bool{store.KeyOf(gofmt.key(q)...): true}
	for _, other := range []Question{
		{Args: q.Args, Files: q.Files},
		{Args: q.Args[:1], Files: q.Files, Dir: q.Dir},
		{Args: q.Args[:1], Env: q.Args[1:], Files: q.Files, Dir: q.Dir},
		{Args: q.Args, Files: map[string]string{"in/a.go": "package a\n"}, Dir: q.Dir},
	} {
		keys[store.KeyOf(gofmt.key(other)...)] = true
	}
	if len(keys) != 5 {
		t.Errorf("%d keys for five questions", len(keys))
	}
}
