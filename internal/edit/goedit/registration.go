package goedit

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
)

// CopyUse adds a use of selector of the package at path in the form of an existing use of a selector with
// the same last name of one of the packages siblings. It copies a statement with a single such call,
// and the check of its error, or adds an element to a list. It goes after the last of these uses
// in the first declaration that has any. name is as for Import. ok is false, and nothing changes,
// if there is no use of a form that can be copied.
func (f *File) CopyUse(selector string, siblings []string, name, path string) (ok bool, err error) {
	if f.err != nil {
		return false, f.err
	}
	last := selector[strings.LastIndexByte(selector, '.')+1:]
	if _, ok := f.useToCopy(last, siblings); !ok {
		return false, nil
	}
	g := *f
	local := g.Import(name, path)
	u, ok := g.useToCopy(last, siblings)
	if !ok || g.err != nil {
		return false, nil
	}
	add := g.copyOf(u, selector, local)
	first, _, _ := strings.Cut(selector, ".")
	done := func(h *File) bool { return h.Uses(path, first) }
	if !g.edit(done, []splice{add}) {
		return false, nil
	}
	*f = g
	return true, nil
}

// use is a use of a selector of a package, such as fleetv1.AddToScheme.
type use struct {
	sel   ast.Expr      // with the selector, as in fleetv1.SchemeBuilder.AddToScheme
	call  *ast.CallExpr // that calls it; nil for an element of a list
	list  []ast.Expr    // the list with the element
	body  *ast.BlockStmt
	stmts []ast.Stmt // the block and the statement of the call
	index int
}

// useToCopy returns the last use that can be copied in the first declaration that has any.
func (f *File) useToCopy(selector string, siblings []string) (use, bool) {
	names := map[string]bool{}
	for _, path := range siblings {
		for _, local := range f.importNames(path) {
			names[local] = local != "_" && local != "."
		}
	}
	maps.DeleteFunc(names, func(_ string, named bool) bool { return !named })
	for _, d := range f.file.Decls {
		if all := f.uses(d, selector, names); len(all) > 0 {
			return all[len(all)-1], true
		}
	}
	return use{}, false
}

// uses returns the uses of selector of the packages names in d that can be copied, in order.
func (f *File) uses(d ast.Decl, selector string, names map[string]bool) []use {
	var all []use
	find := func(e ast.Expr) (use, bool) {
		full := chain(e)
		alias, _, _ := strings.Cut(full, ".")
		return use{sel: e}, names[alias] && strings.HasSuffix(full, "."+selector)
	}
	elements := func(list []ast.Expr) {
		for _, e := range slices.Backward(list) {
			if u, ok := find(e); ok {
				u.list = list
				all = append(all, u)
				return
			}
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			elements(n.Elts)
		case *ast.CallExpr:
			elements(n.Args)
			fn, isFunc := d.(*ast.FuncDecl)
			u, ok := find(n.Fun)
			if !ok || !isFunc || fn.Body == nil {
				break
			}
			u.call, u.body = n, fn.Body
			u.stmts, u.index = innermost(fn.Body.List, n.Pos())
			if len(u.stmts) == len(fn.Body.List) && u.stmts[0] == fn.Body.List[0] &&
				len(findCalls(&ast.BlockStmt{List: u.stmts[u.index : u.index+1]}, selector)) == 1 {
				all = append(all, u)
			}
		}
		return true
	})
	return all
}

// copyOf returns the splice that adds a copy of u for the package local.
func (f *File) copyOf(u use, selector, local string) splice {
	if u.call == nil {
		last := slices.IndexFunc(u.list, func(e ast.Expr) bool { return e == u.sel })
		off, at, text := f.offset(u.list[last].End()), f.offset(u.sel.Pos()), local+"."+selector
		if !f.startsLine(at) {
			return splice{off, off, ", " + text}
		}
		return splice{off, off, "," + edit.LineEnd(f.src) + f.indent(at) + text}
	}
	stmt := u.stmts[u.index]
	if _, ok := stmt.(*ast.ReturnStmt); ok && len(u.call.Args) == 1 {
		p := f.beforeStmt(u.body, u.stmts, u.index)
		arg := string(f.src[f.offset(u.call.Args[0].Pos()):f.offset(u.call.Args[0].End())])
		lines := "if err := " + local + "." + selector + "(" + arg + "); err != nil {\n\treturn err\n}"
		return splice{p.off, p.off + p.skip, p.lead + indented(lines, p.indent, edit.LineEnd(f.src)) + p.tail}
	}
	p := f.afterStmt(u.body, u.stmts, u.index)
	last := u.index
	for names := assigned(stmt); last+1 < len(u.stmts) && f.follows(u.stmts[last], u.stmts[last+1], names); {
		last++
	}
	start, end := f.offset(stmt.Pos()), f.offset(u.stmts[last].End())
	lines := string(f.src[start:end])
	at := f.offset(u.sel.Pos()) - start
	lines = lines[:at] + local + "." + selector + lines[at+int(u.sel.End()-u.sel.Pos()):]
	if a, ok := stmt.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		define := f.offset(a.TokPos) - start
		lines = lines[:define] + "=" + lines[define+len(":="):]
	}
	return splice{p.off, p.off + p.skip, p.lead + p.indent + lines + p.tail}
}
