package project

import (
	"github.com/operon-dev/operon/internal/edit/yamledit"
)

// ResourceLines returns the line number, from 1, of each resource in a PROJECT file. It
// returns nil for an invalid file.
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
