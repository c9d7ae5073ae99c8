package goedit

import "go/ast"

// CallSite is a call whose results are assigned or returned.
type CallSite struct {
	Func    string // the method that contains the call
	Results int    // the number of results that the call must have
}

// CallSites returns the calls of method name in methods of typ, on their own
// receiver, where the results of the call are the only assigned or returned
// values.
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

// eachResultUse calls take with the values of each assignment and return in the
// body of a function.
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
