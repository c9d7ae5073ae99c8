package project

import (
	"github.com/operon-dev/operon/internal/edit/yamledit"
)

// ResourceLines returns the line, from 1, on which each resource begins in the
// content of a PROJECT file; nothing for a file that cannot be read.
func ResourceLines(src []byte) []int {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil
	}
	list, _ := doc.Value["resources"].([]any)
	lines := make([]int, len(list))
	for i := range list {
		lines[i] = doc.Line([]any{"resources", i})
	}
	return lines
}
