package goedit

import (
	"bytes"

	"github.com/operon-dev/operon/internal/fault"
)

// DropCall takes out the statements of func fn, found as by BeforeCall, that
// contain a call of call, with the statements on the next lines that look at what
// they assign. Comments stay. A statement that shares its line with other code is
// an error.
func (f *File) DropCall(fn, call string) error {
	for f.err == nil {
		cut, found := f.callLines(fn, call)
		if !found {
			break
		}
		if cut.end == 0 {
			f.err = fault.Failed("take it out by hand, then repeat the command", "%s: the call of %s shares its line with other code", f.path, call)
			break
		}
		_ = f.replace(cut) // kept in f.err
	}
	return f.err
}

// callLines are the lines of the first such statement; end is 0 where it does not
// have its lines for itself.
func (f *File) callLines(fn, call string) (cut splice, found bool) {
	for _, body := range f.bodies(fn) {
		calls := findCalls(body, call)
		if len(calls) == 0 {
			continue
		}
		list, i := statement(body.List, calls[0], call)
		last := i
		for names := assigned(list[i]); last+1 < len(list) && f.follows(list[last], list[last+1], names); {
			last++
		}
		start, end := f.offset(list[i].Pos()), f.behind(list[last])
		next := f.nextLine(end)
		if !f.startsLine(start) || len(bytes.TrimSpace(f.src[end:next])) > 0 {
			return splice{}, true
		}
		start = f.lineStart(start)
		// Of the two blank lines around a paragraph, one goes with it.
		if above := f.lineStart(max(start-1, 0)); len(bytes.TrimSpace(f.src[above:start])) == 0 && len(bytes.TrimSpace(f.src[next:f.nextLine(next)])) == 0 {
			next = f.nextLine(next)
		}
		return splice{start, next, ""}, true
	}
	return splice{}, false
}
