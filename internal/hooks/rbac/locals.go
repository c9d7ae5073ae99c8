package rbac

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// visible returns the assignments that a function sees: its own if the variable is
// local, or else all except those in functions with such a local that do not call it.
// always reports whether the variable has one of their values, and never one of the
// environment.
func (s *scope) visible(name string) (all []assignment, always bool) {
	locals, inCallers := map[*syntax.FuncDecl]bool{}, false
	for _, a := range s.variables[name] {
		locals[a.fn] = locals[a.fn] || a.local
	}
	for _, a := range s.variables[name] {
		if a.fn == s.fn || !locals[s.fn] && (!locals[a.fn] || s.reaches(a.fn.Body, s.fn, map[*syntax.FuncDecl]bool{})) {
			all = append(all, a)
			inCaller := a.fn != s.fn && locals[a.fn]
			inCallers = inCallers || inCaller
			always = always || !a.conditional && !inCaller
		}
	}
	return all, always || inCallers && !s.reachesWithout(locals)
}

// reachesWithout reports whether the function may run although none of some others
// calls it.
func (s *scope) reachesWithout(others map[*syntax.FuncDecl]bool) bool {
	seen := maps.Clone(others)
	maps.DeleteFunc(seen, func(_ *syntax.FuncDecl, isLocal bool) bool { return !isLocal })
	return slices.ContainsFunc(s.scripts, func(in *script) bool { return s.reaches(in.file, s.fn, seen) }) ||
		slices.ContainsFunc(s.functionNames(), func(name string) bool {
			fn := s.functions[name].FuncDecl
			return isHandler(name) && !seen[fn] && (fn == s.fn || s.reaches(fn.Body, s.fn, seen))
		})
}

// reaches reports whether the commands of a node may call a function, directly or
// through functions that are not in seen.
func (p *program) reaches(n syntax.Node, fn *syntax.FuncDecl, seen map[*syntax.FuncDecl]bool) bool {
	for _, next := range p.calls(n) {
		if next == fn {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if p.reaches(next.Body, fn, seen) {
				return true
			}
		}
	}
	return false
}

// calls returns the functions that the texts below a node name. A command that is known
// only at run time may call any function.
func (p *program) calls(n syntax.Node) []*syntax.FuncDecl {
	all, known := p.called[n]
	if known {
		return all
	}
	add := func(text string) {
		for word := range wordsIn(text) {
			if fn, is := p.functions[word]; is {
				all = append(all, fn.FuncDecl)
			}
		}
	}
	syntax.Walk(n, func(inner syntax.Node) bool {
		switch x := inner.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.Lit:
			add(x.Value)
		case *syntax.SglQuoted:
			add(x.Value)
		case *syntax.CallExpr:
			if len(x.Args) > 0 && x.Args[0].Lit() == "" {
				for _, fn := range p.functions {
					all = append(all, fn.FuncDecl)
				}
			}
		}
		return true
	})
	p.called[n] = all
	return all
}
