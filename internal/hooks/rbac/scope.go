package rbac

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// visible are the writers of a variable that a function sees: what a function calls sees its locals,
// and nothing else does.
func (p *program) visible(name string, fn *function) []writer {
	all := p.vars[name]
	localIn := func(fn *function) bool {
		return fn != nil && slices.ContainsFunc(all, func(w writer) bool { return w.local && w.fn == fn })
	}
	inside := localIn(fn)
	return slices.DeleteFunc(slices.Clone(all), func(w writer) bool {
		switch {
		case w.naked && w.fn.filled[name]:
			return true
		case w.fn == fn:
			return false
		}
		return inside || localIn(w.fn) && (fn == nil || !p.reaches(w.fn, fn.decl.Name.Value, map[*function]bool{}))
	})
}

// reaches reports whether a function may call another, if only by others. One that runs
// what it is told to may call any; the library of hooks calls handlers so, which have
// nothing of it to see.
func (p *program) reaches(from *function, name string, seen map[*function]bool) bool {
	if from == nil || seen[from] || from.in.isEngineLibrary() {
		return false
	}
	seen[from] = true
	found := false
	syntax.Walk(from.decl.Body, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 0 {
			called := c.Args[0].Lit()
			found = found || called == "" || called == name || p.reaches(p.functions[called], name, seen)
		}
		return !found
	})
	return found
}

// fill notes the locals of a block that get a value before anybody looks at them, so
// that they never are what a bare declaration leaves them.
func (f *function) fill(block *syntax.Block) {
	for i, s := range block.Stmts {
		d, is := s.Cmd.(*syntax.DeclClause)
		if !is {
			continue
		}
		for _, a := range d.Args {
			if a.Name != nil && a.Naked && isSetFirst(block.Stmts[i+1:], a.Name.Value) {
				f.filled[a.Name.Value] = true
			}
		}
	}
}

// isSetFirst reports whether statements set a variable in any case before they look at
// it.
func isSetFirst(stmts []*syntax.Stmt, name string) bool {
	for _, s := range stmts {
		if sets(s, name) {
			return true
		}
		if looksAt(s, name) {
			return false
		}
	}
	return false
}

// sets reports whether a statement gives a variable another value in any case.
func sets(s *syntax.Stmt, name string) bool {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return sets(c.X, name)
	case *syntax.CallExpr:
		return len(c.Args) == 0 && slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool {
			return a.Name != nil && a.Name.Value == name && !a.Append && a.Index == nil && (a.Value == nil || !looksAt(a.Value, name))
		})
	}
	return false
}

// looksAt reports whether a node reads a variable.
func looksAt(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		e, is := n.(*syntax.ParamExp)
		found = found || is && e.Param != nil && e.Param.Value == name
		return !found
	})
	return found
}
