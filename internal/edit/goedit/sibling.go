package goedit

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// BeforeMethod is the place before the statement with the first call of a method on the variable
// to which the result of one of the calls is assigned. Both are in one function: a declared
// function, a method or a function literal.
func BeforeMethod(method string, assigned ...Symbol) Anchor {
	return Anchor{
		what: "a call of " + method + " on the result of " + assigned[0].Name,
		find: func(f *File) (place, bool) {
			for _, body := range f.functions() {
				for _, name := range f.assignments(body, assigned) {
					if calls := findCalls(body, name+"."+method); len(calls) > 0 {
						list, i := statement(body.List, calls[0], name+"."+method)
						return f.beforeStmt(body, list, i), true
					}
				}
			}
			return place{}, false
		},
	}
}

// AfterMaking is the place after the first statement with one of the calls, and after the check of its error.
func AfterMaking(calls ...Symbol) Anchor {
	return Anchor{
		what: "a call of " + calls[0].Name,
		find: func(f *File) (found place, ok bool) {
			for _, body := range f.functions() {
				ast.Inspect(body, func(n ast.Node) bool {
					if c, isCall := n.(*ast.CallExpr); isCall && !ok && f.is(c.Fun, calls) {
						list, i := innermost(body.List, c.Pos())
						found, ok = f.afterStmt(body, list, i), true
					}
					return !ok
				})
			}
			return found, ok
		},
	}
}

// AfterLike is the place after the last statement with a call that matches, in the innermost block
// with all such calls of its function, or in the last block of several with the same condition.
// matches gets the called expression as in BeforeCall ("webhooks.Setup"). what describes the calls in
// messages.
func AfterLike(what string, matches func(call string) bool) Anchor {
	return Anchor{
		what: what,
		find: func(f *File) (place, bool) {
			var all []*ast.CallExpr
			ast.Inspect(f.file, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok && matches(chain(c.Fun)) {
					all = append(all, c)
				}
				return true
			})
			if len(all) == 0 {
				return place{}, false
			}
			last := all[len(all)-1].Pos()
			for _, body := range slices.Backward(f.functions()) {
				if within(body, last) {
					all = slices.DeleteFunc(all, func(c *ast.CallExpr) bool { return !within(body, c.Pos()) })
					list := common(body.List, all)
					conditions := f.conditions(last)
					same := func(c *ast.CallExpr) bool { return slices.Equal(f.conditions(c.Pos()), conditions) }
					if len(conditions) > 0 && !slices.ContainsFunc(all, func(c *ast.CallExpr) bool { return !same(c) }) {
						list, _ = innermost(body.List, last)
					}
					return f.afterStmt(body, list, slices.IndexFunc(list, func(s ast.Stmt) bool { return within(s, last) })), true
				}
			}
			return place{}, false
		},
	}
}

// conditions returns the conditions of the if statements with pos in their bodies, and the cases, the outermost first.
func (f *File) conditions(pos token.Pos) []string {
	var all []string
	ast.Inspect(f.file, func(n ast.Node) bool {
		if n == nil || !within(n, pos) {
			return false
		}
		switch s := n.(type) {
		case *ast.IfStmt:
			if within(s.Body, pos) {
				all = append(all, string(f.src[f.offset(s.Cond.Pos()):f.offset(s.Cond.End())]))
			}
		case *ast.CaseClause:
			all = append(all, string(f.src[f.offset(s.Case):f.offset(s.Colon)]))
		}
		return true
	})
	return all
}

// Condition returns the innermost condition or case around the place, or "".
func (s *Scope) Condition() string {
	all := s.file.conditions(s.pos)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// common returns the innermost block, list or a block in it, that contains all the calls.
func common(list []ast.Stmt, all []*ast.CallExpr) []ast.Stmt {
	for _, s := range list {
		inner := nested(s, all[0].Pos())
		if inner == nil {
			continue
		}
		for _, c := range all {
			if !within(s, c.Pos()) || !slices.ContainsFunc(inner, func(s ast.Stmt) bool { return within(s, c.Pos()) }) {
				return list
			}
		}
		return common(inner, all)
	}
	return list
}

// functions returns the bodies of all functions, methods and function literals. Outer ones come
// before inner ones.
func (f *File) functions() []*ast.BlockStmt {
	var list []*ast.BlockStmt
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				list = append(list, n.Body)
			}
		case *ast.FuncLit:
			list = append(list, n.Body)
		}
		return true
	})
	return list
}

// innermost returns the statement at pos in the innermost block.
func innermost(list []ast.Stmt, pos token.Pos) (block []ast.Stmt, index int) {
	for i, s := range list {
		if !within(s, pos) {
			continue
		}
		if inner := nested(s, pos); inner != nil {
			return innermost(inner, pos)
		}
		return list, i
	}
	return list, len(list) - 1 // unreachable: one of the statements contains pos
}

// ErrorReturn returns the statement with which the innermost function at the place returns the error err. ok is
// false unless its last result has the type error and nil is a value of the others.
func (s *Scope) ErrorReturn() (statement string, ok bool) {
	var inner *ast.FuncType
	ast.Inspect(s.file.file, func(n ast.Node) bool {
		if n == nil || !within(n, s.pos) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			inner = n.Type
		case *ast.FuncLit:
			inner = n.Type
		}
		return true
	})
	if inner == nil || inner.Results == nil {
		return "", false
	}
	list := inner.Results.List
	last := len(list) - 1
	if id, isName := list[last].Type.(*ast.Ident); !isName || id.Name != "error" || len(list[last].Names) > 1 {
		return "", false
	}
	for _, field := range list[:last] {
		if !canBeNil(field.Type) {
			return "", false
		}
		statement += strings.Repeat("nil, ", max(len(field.Names), 1))
	}
	return "return " + statement + "err", true
}

// canBeNil reports whether nil is a value of a type, which is certain for types without a name.
func canBeNil(typ ast.Expr) bool {
	switch t := typ.(type) {
	case *ast.StarExpr, *ast.MapType, *ast.FuncType, *ast.ChanType, *ast.InterfaceType:
		return true
	case *ast.ArrayType:
		return t.Len == nil
	}
	return false
}

// InGoroutine reports whether the place is in a function that the file starts with a go statement.
func (s *Scope) InGoroutine() bool {
	fn, ok := s.decl.(*ast.FuncDecl)
	found := false
	ast.Inspect(s.file.file, func(n ast.Node) bool {
		if g, isGo := n.(*ast.GoStmt); isGo {
			found = found || within(g, s.pos) || ok && fn.Recv == nil && calls(g.Call, fn.Name.Name)
		}
		return !found
	})
	return found
}

// ErrorLogger returns a visible variable with which the file logs errors as logr does, in a call
// such as log.Error(err, "text"): the variable in the last call before the place, or else in the first one
// after it. It returns "" if there is none.
func (s *Scope) ErrorLogger() string {
	found := ""
	ast.Inspect(s.file.file, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) < 2 || found != "" && c.Pos() > s.pos {
			return true
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Error" {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if _, isText := text(c.Args[1]); ok && isText && s.Variable(x.Name) && s.object(x.Name, x.Pos()) == s.object(x.Name, s.pos) {
			found = x.Name
		}
		return true
	})
	return found
}
