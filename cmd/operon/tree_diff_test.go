package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/scaffold"
)

// treeDiff tells how two trees differ: all files by name, and of the first ones the
// first lines that differ.
func treeDiff(want, got map[string]string) string {
	const files, lines = 5, 12
	var diffs, names []string
	for _, name := range slices.Sorted(maps.Keys(union(want, got))) {
		before, was := want[name]
		after, is := got[name]
		if was == is && before == after {
			continue
		}
		if names = append(names, name); len(names) > files {
			continue
		}
		change := scaffold.Change{Path: name}
		if was {
			change.Before = []byte(before)
		}
		if is {
			change.After = []byte(after)
		}
		shown := strings.SplitAfter(strings.TrimSuffix(change.Diff(), "\n"), "\n")
		if more := len(shown) - lines; more > 0 {
			shown = append(shown[:lines], fmt.Sprintf("... and %d more lines", more))
		}
		diffs = append(diffs, strings.Join(shown, ""))
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("these differ: %s\n%s", strings.Join(names, ", "), strings.Join(diffs, "\n"))
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func TestTreeDiff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 600)
	want := map[string]string{"same": "x\n", "edited": "a\nb\nc\n", "gone": long, "empty": ""}
	got := map[string]string{"same": "x\n", "edited": "a\nB\nc\n", "new": long}
	text := treeDiff(want, got)
	for _, part := range []string{"these differ: edited, empty, gone, new\n", "\n-b\n+B\n", "\n--- a/gone\n+++ /dev/null\n", "\n--- /dev/null\n+++ b/new\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q:\n%s", part, text)
		}
	}
	if n := strings.Count(text, "... and 591 more lines"); n != 2 || strings.Count(text, "\n") > 40 {
		t.Errorf("it is not cut short:\n%s", text)
	}
	for i := range 100 {
		got[fmt.Sprint("another", i)] = long
	}
	if text := treeDiff(want, got); strings.Count(text, "\n") > 80 || !strings.Contains(text, "another99") {
		t.Errorf("%d lines for many files:\n%s", strings.Count(text, "\n"), text)
	}
	if text := treeDiff(want, maps.Clone(want)); text != "" {
		t.Errorf("a tree differs from itself:\n%s", text)
	}
}
