package scaffold

import (
	"os/exec"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after []byte
		want          string
	}{
		{"create", nil, []byte("a\nb\n"), "--- /dev/null\n+++ b/d/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"delete", []byte("a\nb\n"), nil, "--- a/d/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"update", []byte("a\nb\n"), []byte("a\nc\n"), "--- a/d/f\n+++ b/d/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"no final newline", []byte("a"), []byte("a\n"), "--- a/d/f\n+++ b/d/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"two hunks, of which the first has two changes", []byte("a\nb\nc\n1\n2\n3\n4\n5\n6\n7\nd\n"), []byte("a\nx\nb\ny\nc\n1\n2\n3\n4\n5\n6\n7\nz\nd\n"),
			"--- a/d/f\n+++ b/d/f\n@@ -1,5 +1,7 @@\n a\n+x\n b\n+y\n c\n 1\n 2\n@@ -8,4 +10,5 @@\n 5\n 6\n 7\n+z\n d\n"},
		{"the same", []byte("a"), []byte("a"), ""},
		{"binary", nil, []byte("a\x00b"), "Binary files /dev/null and b/d/f differ\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			same(t, "diff", tt.want, Change{Path: "d/f", Before: tt.before, After: tt.after}.Diff())
		})
	}
}

// TestDiffApplies checks that git apply makes the same tree from the diff of a
// plan as Apply.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	files := map[string]string{"a": "1\n2\n3\n", "b": "gone\n", "sub/c": "no newline", "same": "s\n", "old": "1\n2\n"}
	fill := func(p *Plan) {
		must(t, p.Move("same", "sub/same"))
		must(t, p.Move("old", "sub/old"))
		must(t, p.Edit("sub/old", func(src []byte) ([]byte, error) { return append(src, "3\n"...), nil }))
		must(t, p.Generate("g", "a", []byte("1\nx\n3\n")))
		must(t, p.Remove("b"))
		must(t, p.Generate("g", "sub/c", []byte("now one\n")))
		must(t, p.Generate("g", "sub/new/d", []byte("new")))
	}
	applied, fsys := project(t, files)
	apply(t, fsys, Options{}, fill)

	patched, fsys := project(t, files)
	p := newPlan(t, fsys, Options{})
	fill(p)
	var diff strings.Builder
	for _, c := range p.Changes() {
		diff.WriteString(c.Diff())
	}
	cmd := exec.Command(git, "apply", "-p1", "-")
	cmd.Dir, cmd.Stdin = patched, strings.NewReader(diff.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, diff.String())
	}
	same(t, "files", contents(t, applied), contents(t, patched))
}
