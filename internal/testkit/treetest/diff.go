package treetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
)

// Diff describes how two trees differ: the names of all files that differ, and the first
// lines of the differences of the first files. It is empty for equal trees.
func Diff(want, got map[string]string) string {
	const files, lines = 5, 12
	var diffs, names []string
	for _, name := range slices.Sorted(maps.Keys(union(want, got))) {
		before, inWant := want[name]
		after, inGot := got[name]
		if inWant == inGot && before == after {
			continue
		}
		if names = append(names, name); len(names) > files {
			continue
		}
		change := scaffold.Change{Path: name}
		if inWant {
			change.Before = []byte(before)
		}
		if inGot {
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
