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

// Change is one line of a plan, and what stands behind it.
type Change struct {
	Path   string
	From   string // of a move, or a conflict with what is moved here: where Before stands
	Class  Class
	Op     Op
	Mode   fs.FileMode // permission bits: of the file as it is, or as it will be created
	Before []byte      // nil: the file does not exist
	After  []byte      // nil: the file will be deleted. For a conflict this is what Options.Force would write
}

// Diff returns the change as a unified diff that patch -p1 and git apply
// understand: a/ and b/ before the path, /dev/null for a missing side, and for a
// move git's lines about a rename. It is empty when the content stays in place.
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

// unified is udiff.Unified with the right places in the new text: udiff forgets
// the lines that stay between two changes of one hunk.
func unified(from, to, before, after string) string {
	u, err := udiff.ToUnifiedDiff(from, to, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // udiff does not take its own edits
		panic(err)
	}
	ahead := 0 // lines that the new text has more, before the hunk
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

// Changes returns what Apply would do, sorted by path. Files that stay as they
// are and should be are left out; a file that the user changed and that stays
// so is listed with Keep. A moved file is one change, with the path it will have.
// State under .operon is never listed.
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

// origin returns the entry of the file that e was moved from, when nothing else
// is planned there.
func (p *Plan) origin(e *entry) *entry {
	origin := p.entries[e.moved]
	if origin == nil {
		return nil
	}
	if op, _ := origin.outcome(p.force); op != Delete {
		return nil
	}
	return origin
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
