package goedit

import "go/ast"

// CallSite is a call of which something is assigned or returned.
type CallSite struct {
	Func    string // the method with the call
	Results int    // how many results the call is to have
}

// CallSites returns the calls of a method of typ on its own receiver, in the other
// methods of typ, whose results are all that is assigned or returned.
func (f *File) CallSites(typ, name string) (all []CallSite) {
	for _, d := range f.file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || !method(d, typ+"."+d.Name.Name) || d.Body == nil {
			continue
		}
		call := f.Receiver(typ+"."+d.Name.Name) + "." + name
		take := func(values []ast.Expr, results int) {
			if len(values) != 1 {
				return
			}
			if c, ok := ast.Unparen(values[0]).(*ast.CallExpr); ok && chain(c.Fun) == call {
				all = append(all, CallSite{d.Name.Name, results})
			}
		}
		eachResultUse(d.Body, d.Type, take)
	}
	return all
}

// eachResultUse calls take with what is assigned or returned in the body of a function.
func eachResultUse(body *ast.BlockStmt, of *ast.FuncType, take func(values []ast.Expr, results int)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			eachResultUse(n.Body, n.Type, take)
			return false
		case *ast.AssignStmt:
			take(n.Rhs, len(n.Lhs))
		case *ast.ReturnStmt:
			take(n.Results, of.Results.NumFields())
		}
		return true
	})
}
