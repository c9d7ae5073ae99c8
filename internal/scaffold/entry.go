package scaffold

import (
	"bytes"
	"io/fs"
	"slices"
)

// permissions are the mode bits that an update preserves.
const permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// entry is what a plan knows of one path.
type entry struct {
	path string // as the callers name it
	real string // with links followed: where content is written

	disk     []byte      // what stands there; nil: nothing
	diskMode fs.FileMode // its permission bits
	base     []byte      // the pristine content of the last write; nil: none

	class     Class       // as planned; "" when the plan only edits or removes
	mode      fs.FileMode // of a file to be created
	seed      []byte      // as first seeded, to know a repeat
	from      []byte      // the base that the seed is compared with: base, with this plan's moves and edits
	pristine  []byte      // the base to be: of a seeded file, next
	content   []byte      // the file to be; of a seeded file, what the seed meets; nil: none
	recorded  string      // the generator of the last write; "": none
	generator string      // the generator to be recorded; "": none
	edited    bool        // content is edited in this plan
	moved     string      // where content stood before; "": here
	gone      bool        // the user deleted the seeded file, and it stays so
}

// entry returns the entry of path, which is read from the disk once.
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
	e := &entry{path: path, real: resolved, mode: fileMode(0), recorded: p.records[path].Generator}
	e.generator = e.recorded
	if info != nil {
		if e.disk, err = p.tree.read(resolved, info); err != nil {
			return nil, err
		}
		e.diskMode = info.Mode() & permissions
	}
	if e.base, err = p.tree.state(basePath(path)); err != nil {
		return nil, err
	}
	e.content, e.pristine = e.disk, e.base
	p.entries[path] = e
	return e, nil
}

// outcome says what Apply does with the file, and what it then holds.
func (e *entry) outcome(force bool) (Op, []byte) {
	content := e.content
	if e.class == Seeded {
		next := e.nextBase()
		op, decided := Decide(e.from, e.content, next)
		switch {
		case e.gone:
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

// nextBase is the base to be. A seed that has the lines of the last one in
// another order changes nothing: lines that commands add beside each other (in
// main.go, say) stand in the order of these commands, which nobody remembers.
func (e *entry) nextBase() []byte {
	if e.class == Seeded && e.from != nil && sameLines(e.from, e.pristine) {
		return e.from
	}
	return e.pristine
}

// current returns the content and the base that a seed meets, or would meet.
func (e *entry) current() (content, base []byte) {
	if e.class == Seeded {
		return e.content, e.from
	}
	return e.content, e.pristine
}

// sameLines reports whether two texts differ at most in the order of their
// lines, and in blank ones: an import that comes before others may take a group
// of its own.
func sameLines(a, b []byte) bool {
	return slices.EqualFunc(sortedLines(a), sortedLines(b), bytes.Equal)
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

// change returns the entry as a Change, unless there is nothing to tell.
func (e *entry) change(force bool) (Change, bool) {
	op, after := e.outcome(force)
	c := Change{Path: e.path, Class: e.kind(), Op: op, Mode: e.diskMode, Before: e.disk, After: after}
	switch op {
	case Create:
		c.Mode = e.mode
	case Update:
		if e.class == Seeded && e.mode&0o111 != 0 && force && bytes.Equal(after, e.nextBase()) {
			c.Mode |= e.diskMode & 0o444 >> 2 // a script in the place of another file, for who may read it
		}
	case Conflict:
		c.Before, c.After = e.content, e.nextBase()
	case Keep:
		return c, e.class == Seeded && !e.gone && !bytes.Equal(e.disk, e.nextBase())
	}
	return c, true
}

// kind is the class of a change: as planned, or as the state tells for a file
// that is only edited or removed.
func (e *entry) kind() Class {
	switch {
	case e.class != "":
		return e.class
	case e.recorded != "":
		return Generated
	case e.base != nil || e.pristine != nil:
		return Seeded
	}
	return Shared
}
