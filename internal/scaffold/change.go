package scaffold

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Change is one planned change of a file.
type Change struct {
	Path   string
	From   string // the path of Before, for a move or a conflict with a moved file
	Class  Class
	Op     Op
	Mode   fs.FileMode // permission bits of the existing file, or of the one to be created
	Before []byte      // nil: the file does not exist
	After  []byte      // nil: the file will be deleted. For a conflict: what Options.Force would write
}

// Diff returns the change as a unified diff for patch -p1 and git apply: the
// paths start with a/ and b/, /dev/null stands for a missing file, and a move
// has git's rename lines. Diff is empty when the content does not change.
func (c Change) Diff() string {
	from, to := "a/"+cmp.Or(c.From, c.Path), "b/"+c.Path
	head := ""
	if c.From != "" {
		head = fmt.Sprintf("diff --git %s %s\nrename from %s\nrename to %s\n", from, to, c.From, c.Path)
	}
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	if bytes.Equal(c.Before, c.After) {
		return head
	}
	if !isText(c.Before) || !isText(c.After) {
		return head + "Binary files " + from + " and " + to + " differ\n"
	}
	return head + unified(from, to, string(c.Before), string(c.After))
}

// unified is udiff.Unified with correct line numbers for the new text. udiff
// does not count the unchanged lines between two changes of one hunk.
func unified(from, to, before, after string) string {
	u, err := udiff.ToUnifiedDiff(from, to, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // udiff rejects its own edits
		panic(err)
	}
	ahead := 0 // how many more lines the new text has before the hunk
	for _, h := range u.Hunks {
		h.ToLine = h.FromLine + ahead
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				ahead++
			case udiff.Delete:
				ahead--
			}
		}
	}
	return u.String()
}

func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// Changes returns what Apply would do, sorted by path. It omits files that need
// no change; a file that keeps the user's changes is listed with Keep. A moved
// file is one change, under its new path. Changes never lists state in .operon.
func (p *Plan) Changes() []Change {
	var changes []Change
	moved := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		e := p.entries[name]
		c, ok := e.change(p.force)
		if !ok {
			continue
		}
		if origin := p.origin(e); origin != nil && (c.Op == Create || c.Op == Conflict) {
			c.From, c.Before = origin.path, origin.disk
			if c.Op == Create {
				c.Op = Move
			}
			moved[origin.path] = true
		}
		changes = append(changes, c)
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Op == Delete && moved[c.Path] })
}

// origin returns the entry of the file that e was moved from. It returns nil if
// the old path is not removed.
func (p *Plan) origin(e *entry) *entry {
	origin := p.entries[e.movedFrom]
	if origin == nil {
		return nil
	}
	if op, _ := origin.outcome(p.force); op != Delete {
		return nil
	}
	return origin
}

// Conflicts returns the paths that prevent Apply, sorted.
func (p *Plan) Conflicts() []string {
	var names []string
	for _, c := range p.Changes() {
		if c.Op == Conflict {
			names = append(names, c.Path)
		}
	}
	return names
}
