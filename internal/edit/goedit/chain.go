package goedit

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// CallsIn reports whether func fn calls a function or method whose last name is
// one of names, in any chain of calls and on any variable.
func (f *File) CallsIn(fn string, names ...string) bool {
	return slices.ContainsFunc(f.bodies(fn), func(body *ast.BlockStmt) bool {
		return slices.ContainsFunc(names, func(name string) bool { return len(findCalls(body, name)) > 0 })
	})
}

// InsertCalls adds method calls, such as "WithValidator(&Validator{})", to the
// chain of calls that ends in the only call of end in func fn. They go before
// the first call in the chain that before lists, or else before end, on one
// line or several lines as in the chain. If func fn has no such chain, the hint
// of the error contains the calls to add by hand.
func (f *File) InsertCalls(fn, end string, calls []string, before ...string) error {
	if f.err != nil {
		return f.err
	}
	byHand := "add by hand, before the call of " + end + ", then repeat the command:\n\n\t" + strings.Join(calls, ".\n\t") + "."
	var ends []*ast.CallExpr
	for _, body := range f.bodies(fn) {
		ends = append(ends, findCalls(body, end)...)
	}
	if len(ends) != 1 {
		f.err = fault.Failed(byHand, "%s has no func %s with a chain of calls that ends in %s", f.path, fn, end)
		if len(ends) > 1 {
			f.err = fault.Failed(byHand, "%s has several calls of %s in func %s", f.path, end, fn)
		}
		return f.err
	}
	sel, ok := ends[0].Fun.(*ast.SelectorExpr)
	for at := sel; ok; {
		if slices.Contains(before, at.Sel.Name) {
			sel = at
		}
		next, called := at.X.(*ast.CallExpr)
		if !called {
			break
		}
		at, called = next.Fun.(*ast.SelectorExpr)
		if !called {
			break
		}
	}
	wanted := func(g *File) bool {
		return !slices.ContainsFunc(calls, func(call string) bool {
			name, _, _ := strings.Cut(call, "(")
			return !g.CallsIn(fn, name)
		})
	}
	if ok {
		off, glue := f.offset(sel.Sel.Pos()), "."
		if f.line(sel.X.End()) < f.line(sel.Sel.Pos()) {
			glue += edit.LineEnd(f.src) + f.indent(off)
		}
		ok = f.edit(wanted, []splice{{off, off, strings.Join(calls, glue) + glue}})
	}
	if !ok {
		f.err = fault.Failed(byHand, "%s: the calls do not fit into func %s", f.path, fn)
	}
	return f.err
}

// InsertDecls adds text, unindented declarations with their comments, before
// the declaration of the type before and its comments. If the file does not
// declare that type, the text goes at the end of the file.
func (f *File) InsertDecls(text, before string) error {
	if f.err != nil {
		return f.err
	}
	eol := edit.LineEnd(f.src)
	text = strings.ReplaceAll(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n", eol)
	last := eol + text + eol
	if !strings.HasSuffix(string(f.src), "\n") {
		last = eol + last
	}
	places := [][]splice{{{len(f.src), len(f.src), last}}}
	if t, ok := f.typeDecl(before); ok {
		pos := t.pos
		if comments := t.comments(); len(comments) > 0 {
			pos = comments[0].Pos()
		}
		off := f.lineStart(f.offset(pos))
		places = append([][]splice{{{off, off, text + eol + eol}}}, places...)
	}
	names := declaredBy(text)
	if !f.edit(func(g *File) bool {
		have := g.Declares()
		return !slices.ContainsFunc(names, func(name string) bool { return have[name] == 0 })
	}, places...) {
		f.err = fault.Failed(f.byHand(text), "%s: the declarations do not parse there", f.path)
	}
	return f.err
}

// declaredBy returns the names that text declares at package level.
func declaredBy(text string) []string {
	g, err := Parse("", []byte("package p\n\n"+text))
	if err != nil {
		return []string{""} // a name that no file declares
	}
	var names []string
	for name := range g.Declares() {
		names = append(names, name)
	}
	return names
}
