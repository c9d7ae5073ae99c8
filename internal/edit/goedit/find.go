package goedit

import (
	"go/ast"
	"go/token"
	"strings"
)

// marker returns the first scaffold marker with this name, or nil. Valid
// positions from and to limit the search.
func (f *File) marker(name string, from, to token.Pos) *ast.Comment {
	for _, g := range f.file.Comments {
		for _, c := range g.List {
			text, ok := strings.CutPrefix(c.Text, "//")
			if !ok || strings.TrimSpace(text) != scaffoldMarker+name || !f.startsLine(f.offset(c.Pos())) {
				continue
			}
			if !from.IsValid() || from < c.Pos() && c.Pos() < to {
				return c
			}
		}
	}
	return nil
}

// bodies returns the bodies of func fn, or of the method "Type.Name". A file
// may have several funcs init.
func (f *File) bodies(fn string) []*ast.BlockStmt {
	var list []*ast.BlockStmt
	for _, d := range f.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if (d.Recv == nil && d.Name.Name == fn || method(d, fn)) && d.Body != nil {
				list = append(list, d.Body)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					list = append(list, suiteBodies(v.Values, fn)...)
				}
			}
		}
	}
	return list
}

func suiteBodies(values []ast.Expr, fn string) []*ast.BlockStmt {
	var list []*ast.BlockStmt
	for _, v := range values {
		call, ok := v.(*ast.CallExpr)
		if !ok || !calls(call, fn) {
			continue
		}
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.FuncLit); ok {
				list = append(list, lit.Body)
			}
		}
	}
	return list
}

// calls reports whether call is a call of name, compared as in BeforeCall.
func calls(call *ast.CallExpr, name string) bool {
	full := chain(call.Fun)
	if !strings.Contains(name, ".") {
		full = full[strings.LastIndexByte(full, '.')+1:]
	}
	return full == name
}

// chain returns a selector expression as text, with "" for parts that are not
// identifiers: "mgr.Start" for mgr.Start, ".Start" for mgr().Start.
func chain(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ParenExpr:
		return chain(e.X)
	case *ast.SelectorExpr:
		return chain(e.X) + "." + e.Sel.Name
	}
	return ""
}

func findCalls(body *ast.BlockStmt, name string) []*ast.CallExpr {
	var list []*ast.CallExpr
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && calls(c, name) {
			list = append(list, c)
		}
		return true
	})
	return list
}

func within(n ast.Node, pos token.Pos) bool { return n.Pos() <= pos && pos < n.End() }

// statement finds the statement in list, or in a block nested in it, that
// contains the call. It returns the outermost statement in whose block the
// call's receiver is declared.
func statement(list []ast.Stmt, call *ast.CallExpr, name string) (block []ast.Stmt, index int) {
	receiver, _, dotted := strings.Cut(name, ".")
	for i, s := range list {
		if !within(s, call.Pos()) {
			continue
		}
		if dotted && declares(s, receiver, call.Pos()) {
			if inner := nested(s, call.Pos()); inner != nil {
				return statement(inner, call, name)
			}
		}
		return list, i
	}
	return list, len(list) - 1 // unreachable: one of the statements contains the call
}

// declares reports whether n declares name as a variable before pos.
func declares(n ast.Node, name string, pos token.Pos) bool {
	found := false
	declared(n, func(id *ast.Ident) {
		found = found || id.Name == name && id.Pos() < pos
	})
	return found
}

// nested returns the statements of the outermost block inside s that contains
// pos.
func nested(s ast.Stmt, pos token.Pos) []ast.Stmt {
	var list []ast.Stmt
	ast.Inspect(s, func(n ast.Node) bool {
		if n == nil || list != nil || !within(n, pos) {
			return false
		}
		var in []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			in = n.List
		case *ast.CaseClause:
			in = n.Body
		case *ast.CommClause:
			in = n.Body
		}
		for _, s := range in {
			// The block of a switch contains its clauses. Lines cannot go between them.
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause:
				continue
			}
			if within(s, pos) {
				list = in
			}
		}
		return true
	})
	return list
}
