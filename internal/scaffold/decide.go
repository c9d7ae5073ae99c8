package scaffold

import (
	"bytes"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold/merge"
)

// Op says what a plan does with a file.
type Op string

// The operations.
const (
	Create   Op = "create"   // the file is missing and will be written
	Move     Op = "move"     // the file will stand at another path, possibly with new content
	Update   Op = "update"   // the file will get new content
	Keep     Op = "keep"     // the user's file stands
	Conflict Op = "conflict" // the user's file and the planned one can not be joined
	Delete   Op = "delete"   // the file will be removed
)

// Decide says what becomes of a seeded file, which belongs to the user once it
// is written. base is the pristine file that operon wrote last (nil: operon
// never wrote it), disk is what stands there now (nil: missing), next is the
// pristine file that operon would write today. The content is what the file
// holds afterwards.
//
//	disk missing   create
//	disk == next   keep
//	disk == base   update
//	base == next   keep: the user's edit stands
//	otherwise      three-way merge: update, or conflict where edits overlap;
//	               other words of a placeholder that the user replaced are no edit
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
	case bytes.Equal(merged, disk): // the user has made operon's edits too
		return Keep, disk
	}
	return Update, present(merged)
}

// placeholder begins the comments of templates that stand for code of the user.
const placeholder = "// Your code goes here"

// dropReplaced returns base and next without the placeholders that disk no longer
// has. Elsewhere their lines, with whatever words, would be in the way of the
// user's code in their place.
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

// splitPlaceholders cuts text before and behind each comment that begins with
// placeholder: these are the parts with odd indices.
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
