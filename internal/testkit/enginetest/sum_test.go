package enginetest

import (
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestSum changes files that are inputs of verdicts, and others.
func TestSum(t *testing.T) {
	t.Parallel()
	all := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		treetest.WriteFile(t, filepath.Join(all, filepath.FromSlash(name)), content)
	}
	texts := []string{"a", "b"}
	sum := func() string {
		t.Helper()
		s, err := sumOf(filepath.Join(all, "engine"), texts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const mod = "module example.com/engine\n\nrequire example.com/judge v0.0.0\n\nreplace (\n\texample.com/judge => ../judge\n\texample.com/stub => ./stub\n)\n"
	put("engine/go.mod", mod)
	put("engine/main.go", "package main\n")
	put("engine/stub/go.mod", "module example.com/stub\n")
	put("judge/go.mod", "module example.com/judge\n")
	put("judge/judge.go", "package judge\n")
	put("other/main.go", "package main\n")
	last := sum()
	for _, tt := range []struct {
		name, content string
		changes       bool
	}{
		{"engine/go.mod", mod + "\nrequire example.com/shell v1.2.3\n", true},
		{"engine/main.go", "package main\n\n// changed\n", true},
		{"engine/stub/stub.go", "package stub\n", true},
		{"judge/judge.go", "package judge\n\n// changed\n", true},
		{"judge/go.mod", "module example.com/judge\n\ngo 1.26.4\n", true},
		{"judge/judge.go", "package judge\n\n// changed\n", false},
		{"engine/README.md", "words\n", false},
		{"other/main.go", "package main\n\n// changed\n", false},
	} {
		put(tt.name, tt.content)
		now := sum()
		if (now != last) != tt.changes {
			t.Errorf("%s: the checksum changes: %t", tt.name, now != last)
		}
		last = now
	}
	for _, texts = range [][]string{{"ab"}, {"a", "b", ""}, {"b", "a"}} {
		if sum() == last {
			t.Errorf("%q have the checksum of other texts", texts)
		}
	}
}
