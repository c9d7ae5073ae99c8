package treetest

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// TestTreeDiff compares trees that differ in few and in many files.
func TestTreeDiff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 600)
	want := map[string]string{"same": "x\n", "edited": "a\nb\nc\n", "gone": long, "empty": ""}
	got := map[string]string{"same": "x\n", "edited": "a\nB\nc\n", "new": long}
	text := Diff(want, got)
	for _, part := range []string{"these differ: edited, empty, gone, new\n", "\n-b\n+B\n", "\n--- a/gone\n+++ /dev/null\n", "\n--- /dev/null\n+++ b/new\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("the diff lacks %q:\n%s", part, text)
		}
	}
	if n := strings.Count(text, "... and 591 more lines"); n != 2 || strings.Count(text, "\n") > 40 {
		t.Errorf("the diff is not cut short:\n%s", text)
	}
	for i := range 100 {
		got[fmt.Sprint("another", i)] = long
	}
	if text := Diff(want, got); strings.Count(text, "\n") > 80 || !strings.Contains(text, "another99") {
		t.Errorf("%d lines for many files:\n%s", strings.Count(text, "\n"), text)
	}
	if text := Diff(want, maps.Clone(want)); text != "" {
		t.Errorf("a tree differs from itself:\n%s", text)
	}
}
