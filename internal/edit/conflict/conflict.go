// Package conflict finds what git leaves in a file when a merge has conflicts.
package conflict

import (
	"bytes"

	"github.com/operon-dev/operon/internal/fault"
)

// The texts that describe a conflict to the user.
const (
	Message = "a merge left a conflict here"
	Hint    = "decide which lines of the two sides stay"
)

// Line returns the line, from 1, at which the first conflict in src starts, or 0. Text can
// contain such a line without a conflict, so ask only if src is not valid.
func Line(src []byte) int {
	n := 0
	for line := range bytes.Lines(src) {
		if n++; bytes.HasPrefix(line, []byte("<<<<<<< ")) {
			return n
		}
	}
	return 0
}

// Error returns the error for a conflict at place, such as file:line:column.
func Error(place string) error { return fault.In(place, fault.Failed(Hint, Message)) }
