package goedit

import (
	"bytes"
	"go/ast"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
)

// DropCall removes the statements of func fn that contain a call of call, with
// the statements on the next lines that check what they assign. fn and call are
// as in BeforeCall. Comments stay. It is an error if a statement shares its
// line with other code.
func (f *File) DropCall(fn, call string) error {
	for f.err == nil {
		cut, found := f.callLines(fn, call)
		if !found {
			break
		}
		if cut.end == 0 {
			f.err = fault.Failed("remove it by hand, then repeat the command", "%s: the call of %s shares its line with other code", f.path, call)
			break
		}
		_ = f.replace(cut) // kept in f.err
	}
	return f.err
}

// DropUse removes the statements of func fn that call selector of the package at path, and the
// import. It does nothing if the file uses anything else of the package.
func (f *File) DropUse(fn, path, selector string) error {
	for _, local := range f.importNames(path) {
		other := func(s *ast.SelectorExpr) bool { return s.Sel.Name != selector }
		if local == "_" || local == "." || slices.ContainsFunc(f.selections(local), other) {
			return f.err
		}
		if err := f.DropCall(fn, local+"."+selector); err != nil {
			return err
		}
	}
	return f.DropImport(path)
}

// callLines returns the lines of the first such statement. cut.end is 0 if the
// lines contain other code.
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
		start, end := f.offset(list[i].Pos()), f.endOfLine(list[last])
		next := f.nextLine(end)
		if !f.startsLine(start) || len(bytes.TrimSpace(f.src[end:next])) > 0 {
			return splice{}, true
		}
		start = f.lineStart(start)
		// Remove one of the two blank lines around a paragraph.
		above := f.lineStart(max(start-1, 0))
		if len(bytes.TrimSpace(f.src[above:start])) == 0 && len(bytes.TrimSpace(f.src[next:f.nextLine(next)])) == 0 {
			next = f.nextLine(next)
		}
		return splice{start, next, ""}, true
	}
	return splice{}, false
}
