package scaffold

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Change is one line of a plan, and what stands behind it.
type Change struct {
	Path   string
	Class  Class
	Op     Op
	Mode   fs.FileMode // permission bits: of the file as it is, or as it will be created
	Before []byte      // nil: the file does not exist
	After  []byte      // nil: the file will be deleted. For a conflict this is what Options.Force would write
}

// Diff returns the change as a unified diff that patch -p1 and git apply
// understand: a/ and b/ before the path, /dev/null for a missing side. It is
// empty when the content stays.
func (c Change) Diff() string {
	from, to := "a/"+c.Path, "b/"+c.Path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	if bytes.Equal(c.Before, c.After) {
		return ""
	}
	if !isText(c.Before) || !isText(c.After) {
		return "Binary files " + from + " and " + to + " differ\n"
	}
	return udiff.Unified(from, to, string(c.Before), string(c.After))
}

func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// Changes returns what Apply would do, sorted by path. Files that stay as they
// are and should be are left out; a file that the user changed and that stays
// so is listed with Keep. State under .operon is never listed.
func (p *Plan) Changes() []Change {
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		if c, ok := p.entries[name].change(p.force); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

// Conflicts returns the paths that keep the plan from being applied, sorted.
func (p *Plan) Conflicts() []string {
	var names []string
	for _, c := range p.Changes() {
		if c.Op == Conflict {
			names = append(names, c.Path)
		}
	}
	return names
}
