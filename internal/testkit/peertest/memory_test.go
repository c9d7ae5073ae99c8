package peertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/gen/incremental/store"
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

// ownMemory gives the test a cache of its own.
func ownMemory(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	was := memory
	memory = func() *store.Store { return store.Open(dir) }
	t.Cleanup(func() { memory = was })
	return dir
}

// TestRemember counts how often it asks, and expects the same answer each time.
func TestRemember(t *testing.T) {
	dir := ownMemory(t)
	for _, tt := range []struct {
		name, from string
		fleeting   bool
		fails      bool
		before     func(t *testing.T)
		asks       int
	}{
		{name: "first", from: "a", asks: 1},
		{name: "again", from: "a"},
		{name: "something else", from: "b", asks: 1},
		{name: "fleeting", from: "c", fleeting: true, asks: 1},
		{name: "still fleeting", from: "c", fleeting: true, asks: 1},
		{name: "known, and the test fails", from: "a", fails: true},
		{name: "after that", from: "a", asks: 1},
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
		{name: "no folder", from: "a", asks: 1, before: func(*testing.T) { memory = func() *store.Store { return nil } }},
	} {
		if tt.before != nil {
			tt.before(t)
		}
		test, asks := &asked{TB: t, failed: tt.fails}, 0
		got := Remember(test, []string{tt.from}, func() (string, bool) {
			asks++
			return "answer to " + tt.from, !tt.fleeting
		})
		test.end()
		if asks != tt.asks || got != "answer to "+tt.from {
			t.Errorf("%s: asked %d times, want %d; answer %q", tt.name, asks, tt.asks, got)
		}
	}
}

// TestAsk asks a peer that fails at times. An answer is cached at once, and a failure when
// the same one occurs again.
func TestAsk(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	for name, asks := range map[string][]struct{ would, says string }{
		"works":            {{"works", "works"}, {"broken", "works"}},
		"fails once":       {{"killed", "killed"}, {"works", "works"}, {"killed", "works"}},
		"fails otherwise":  {{"killed", "killed"}, {"broken", "broken"}, {"works", "works"}},
		"fails each time":  {{"broken", "broken"}, {"broken", "broken"}, {"works", "broken"}},
		"fails, and again": {{"killed", "killed"}, {"broken", "broken"}, {"broken", "broken"}, {"works", "broken"}},
	} {
		t.Run(name, func(t *testing.T) {
			ownMemory(t)
			for i, ask := range asks {
				t.Setenv("PEER_WOULD", ask.would)
				a := Peer{Path: sh}.Ask(t, Question{Args: []string{"-c", `echo $PEER_WOULD >&2; test $PEER_WOULD = works`}})
				if a.Stderr != ask.says+"\n" || (a.Code == 0) != (ask.says == "works") {
					t.Errorf("%d: %+v, want output %s", i, a, ask.says)
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
	keys := map[store.Key]bool{store.KeyOf(gofmt.from(q)...): true}
	for _, other := range []Question{
		{Args: q.Args, Files: q.Files},
		{Args: q.Args[:1], Files: q.Files, Dir: q.Dir},
		{Args: q.Args[:1], Env: q.Args[1:], Files: q.Files, Dir: q.Dir},
		{Args: q.Args, Files: map[string]string{"in/a.go": "package a\n"}, Dir: q.Dir},
	} {
		keys[store.KeyOf(gofmt.from(other)...)] = true
	}
	if len(keys) != 5 {
		t.Errorf("%d keys for five questions", len(keys))
	}
}
