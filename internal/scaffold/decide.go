package scaffold

import (
	"bytes"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold/merge"
)

// Op is what a plan does with a file.
type Op string

// The operations.
const (
	Create   Op = "create"   // the file is missing and will be written
	Move     Op = "move"     // the file moves to another path, possibly with new content
	Update   Op = "update"   // the file will get new content
	Keep     Op = "keep"     // the user's file stays unchanged
	Conflict Op = "conflict" // the user's file and the planned one cannot be merged
	Delete   Op = "delete"   // the file will be removed
)

// Decide returns the operation for a seeded file, which belongs to the user
// after the first write. base is the pristine content that operon wrote last
// (nil: operon never wrote the file), disk is the current content (nil: the
// file is missing), and next is the pristine content that operon would write
// now. Decide also returns the resulting content of the file.
//
//	disk missing   create
//	disk == next   keep
//	disk == base   update
//	base == next   keep: the user's edit stays
//	otherwise      three-way merge: update, or conflict if edits overlap;
//	               a placeholder that the user replaced may change its words
//	no base        conflict, unless disk == next
func Decide(base, disk, next []byte) (Op, []byte) {
	switch {
	case disk == nil:
		return Create, next
	case bytes.Equal(disk, next):
		return Keep, disk
	case base == nil:
		return Conflict, disk
	case bytes.Equal(disk, base):
		return Update, next
	case bytes.Equal(base, next):
		return Keep, disk
	}
	base, next = dropReplaced(base, disk, next)
	merged, clean := merge.Text(base, disk, next)
	switch {
	case !clean:
		return Conflict, disk
	case bytes.Equal(merged, disk): // the user already made the same edits
		return Keep, disk
	}
	return Update, present(merged)
}

// placeholder starts the comments in templates that mark where the user writes
// code.
const placeholder = "// Your code goes here"

// dropReplaced returns base and next without the placeholders that disk no
// longer contains. A changed placeholder would otherwise conflict with the
// user's code in its place.
func dropReplaced(base, disk, next []byte) (olds, news []byte) {
	before, after := splitPlaceholders(base), splitPlaceholders(next)
	if len(before) != len(after) {
		return base, next
	}
	for i, part := range before {
		if i%2 == 0 || bytes.Contains(disk, part) {
			olds, news = append(olds, part...), append(news, after[i]...)
		}
	}
	return olds, news
}

// splitPlaceholders splits text before and after each comment that starts with
// placeholder. These comments are the parts with odd indices.
func splitPlaceholders(text []byte) [][]byte {
	parts, inside := [][]byte{nil}, false
	for line := range strings.Lines(string(text)) {
		comment := strings.TrimLeft(line, " \t")
		starts := strings.HasPrefix(comment, placeholder)
		if starts && !inside || inside && !strings.HasPrefix(comment, "//") {
			parts, inside = append(parts, nil), !inside
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], line...)
	}
	return parts
}
