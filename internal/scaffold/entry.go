package scaffold

import (
	"bytes"
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
)

// permissions has the mode bits that an update preserves.
const permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// entry is the state of one path in a plan.
type entry struct {
	path string // as callers name it
	real string // with links resolved: where content is written

	disk     []byte      // the current content; nil: no file
	diskMode fs.FileMode // its permission bits
	baseRead bool        // base is read
	base     []byte      // the pristine content that was last written; nil: none

	class       Class       // as planned; "" when the plan only edits or removes
	mode        fs.FileMode // for a new file
	seed        []byte      // as first seeded, to detect a repetition
	currentBase []byte      // the base for Decide: base, with this plan's moves and edits
	pristine    []byte      // the new base; for a seeded file, next
	// rewritten is what an external plugin wrote last; nil: the base. It was written when the base was rewrittenOn.
	rewritten, rewrittenOn []byte
	stored                 []byte // rewritten, as baseFile has it
	content                []byte // the new content; for a seeded file, the content before the seed; nil: none
	lastGenerator          string // the generator that last wrote the file; "": none
	generator              string // the generator to be recorded; "": none
	edited                 bool   // content is edited in this plan
	movedFrom              string // the old path of content; "": not moved
	deleted                bool   // the user deleted the seeded file, and it stays deleted
	restore                bool   // Options.Restore has the file, which the user deleted
}

// entry returns the entry of path, without its base unless based read it. It reads
// the disk only once.
func (p *Plan) entry(path string) (*entry, error) {
	if e := p.entries[path]; e != nil {
		return e, nil
	}
	if err := checkName(path); err != nil {
		return nil, err
	}
	resolved, info, err := p.tree.resolve(path, true)
	if err != nil {
		return nil, err
	}
	if err := checkName(resolved); err != nil {
		return nil, err
	}
	e := &entry{path: path, real: resolved, mode: fileMode(0), lastGenerator: p.records[path].Generator}
	e.generator = e.lastGenerator
	if info != nil {
		if info.IsDir() && resolved != path {
			return nil, fault.Failed("replace the link with the files of the folder", "%s is a link to the folder %s, not a file", path, resolved)
		}
		if e.disk, err = p.tree.read(resolved, info); err != nil {
			return nil, err
		}
		e.diskMode = info.Mode() & permissions
	}
	e.content = e.disk
	p.entries[path] = e
	return e, nil
}

// based returns the entry of path with its base. Entries that only generators use
// need none: then the bases of the project are not read.
func (p *Plan) based(path string) (*entry, error) {
	e, err := p.entry(path)
	if err != nil || e.baseRead {
		return e, err
	}
	if e.base, err = p.bases.read(path, e.disk); err != nil {
		return nil, err
	}
	if e.stored, err = p.bases.rewritten(path, e.disk); err != nil {
		return nil, err
	}
	e.rewritten = e.stored
	e.baseRead, e.pristine, e.rewrittenOn = true, e.base, e.base
	return e, nil
}

// outcome returns what Apply does with the file, and the resulting content.
func (e *entry) outcome(force bool) (Op, []byte) {
	content := e.content
	if e.class == Seeded {
		next := e.nextBase()
		op, decided := Decide(e.currentBase, e.content, next)
		switch {
		case e.deleted:
			decided = nil
		case force && e.content != nil && !bytes.Equal(e.content, next):
			decided = next
		case op == Conflict:
			return op, e.content
		}
		content = decided
	}
	switch {
	case content == nil && e.disk != nil:
		return Delete, nil
	case content == nil || e.disk != nil && bytes.Equal(e.disk, content):
		return Keep, content
	case e.disk == nil:
		return Create, content
	}
	return Update, content
}

// nextBase returns the new base. A seed that only reorders the lines of the
// last one changes nothing: lines that several commands add to one place (in
// main.go, for example) are in the order of these commands, which is not
// recorded.
func (e *entry) nextBase() []byte {
	if e.class == Seeded && e.currentBase != nil && sameLines(e.currentBase, e.pristine) {
		return e.currentBase
	}
	return e.pristine
}

// current returns the content and the base that Seed compares with.
func (e *entry) current() (content, base []byte) {
	if e.class == Seeded {
		return e.content, e.currentBase
	}
	return e.content, e.pristine
}

// sameLines reports whether two texts differ only in the order of their lines
// and in blank lines. Blank lines can differ because an import that is added
// before others may get a group of its own.
func sameLines(a, b []byte) bool {
	return bytes.Equal(a, b) || slices.EqualFunc(sortedLines(a), sortedLines(b), bytes.Equal)
}

func sortedLines(text []byte) [][]byte {
	lines := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool {
		return len(bytes.TrimSpace(line)) == 0
	})
	slices.SortFunc(lines, bytes.Compare)
	return lines
}

func (e *entry) exists(force bool) bool {
	_, content := e.outcome(force)
	return content != nil
}

// change returns the entry as a Change. It returns false if there is nothing to
// report.
func (e *entry) change(force bool) (Change, bool) {
	if e.restore {
		after := *e
		after.restored()
		e = &after
	}
	op, after := e.outcome(force)
	c := Change{Path: e.path, Class: e.kind(), Op: op, Mode: e.diskMode, Before: e.disk, After: after}
	switch op {
	case Create:
		c.Mode = e.mode
	case Update:
		if e.class == Seeded && e.mode&0o111 != 0 && force && bytes.Equal(after, e.nextBase()) {
			c.Mode |= e.diskMode & 0o444 >> 2 // a script that replaces another file: whoever may read it may run it
		}
	case Conflict:
		c.Before, c.After = e.content, e.nextBase()
		if e.class == Generated {
			c.Before, c.After = e.disk, e.content
		}
	case Keep:
		return c, e.class == Seeded && !e.deleted && !bytes.Equal(e.disk, e.nextBase())
	}
	return c, true
}

// kind is the class of a change: the planned one, or, for a file that is only
// edited or removed, the one in the recorded state.
func (e *entry) kind() Class {
	switch {
	case e.class != "":
		return e.class
	case e.lastGenerator != "":
		return Generated
	case e.base != nil || e.pristine != nil:
		return Seeded
	}
	return Shared
}
