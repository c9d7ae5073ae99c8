package rbac

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assignment is a place where a variable gets a value. Which assignment ran last is
// not followed: a variable may have the value of any of them.
type assignment struct {
	fn    *function      // nil outside of functions
	words []*syntax.Word // the value: one word, or the elements of a list
	kind  assignmentKind
	local bool
}

type assignmentKind int

const (
	toText     assignmentKind = iota
	toList                    // an array
	toEach                    // a loop over all that the words expand to
	toAnything                // a value that is known only at run time
)

func (p *program) assign(name string, a assignment) {
	p.variables[name] = append(p.variables[name], a)
}

// recordVariables records the variables that a node assigns.
func (p *program) recordVariables(n syntax.Node, fn *function) {
	switch x := n.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 {
			for _, a := range x.Assigns {
				p.recordAssign(a, fn, false)
			}
		}
		p.recordBuiltin(x, fn)
	case *syntax.DeclClause:
		p.recordDeclaration(x, fn)
	case *syntax.Block:
		p.recordBareLocals(x, fn)
	case *syntax.WordIter:
		kind := toEach
		if !x.InPos.IsValid() {
			kind = toAnything
		}
		p.assign(x.Name.Value, assignment{fn: fn, words: x.Items, kind: kind})
	}
}

func (p *program) recordAssign(a *syntax.Assign, fn *function, local bool) {
	w := assignment{fn: fn, local: local && fn != nil}
	switch {
	case a.Name == nil || a.Naked && !w.local:
		return
	case a.Naked:
		w.kind = toEach // of no words: no value, see recordBareLocals
	case a.Append || a.Index != nil:
		w.kind = toAnything
	case a.Array != nil:
		w.kind = toList
	}
	if a.Value != nil {
		w.words = []*syntax.Word{a.Value}
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil || e.Value == nil {
				w.kind = toAnything
			}
			if e.Value != nil {
				w.words = append(w.words, e.Value)
			}
		}
	}
	p.assign(a.Name.Value, w)
}

// recordDeclaration records what local, export, declare and the like assign.
func (p *program) recordDeclaration(d *syntax.DeclClause, fn *function) {
	reference := d.Variant.Value == "nameref"
	for _, a := range d.Args {
		if a.Name == nil {
			option := ""
			if a.Value != nil {
				option = a.Value.Lit()
			}
			reference = reference || d.Variant.Value != "export" && strings.HasPrefix(option, "-") && strings.Contains(option, "n")
			continue
		}
		p.recordAssign(a, fn, !isOneOf(d.Variant.Value, "export", "readonly"))
		if reference { // a write to it assigns the other variable
			p.assign(a.Name.Value, assignment{fn: fn, kind: toAnything})
			if a.Value != nil {
				p.assign(a.Value.Lit(), assignment{kind: toAnything})
			}
		}
	}
}

// recordBareLocals records the empty value of locals that a block declares without a
// value, unless a following statement always assigns one.
func (p *program) recordBareLocals(block *syntax.Block, fn *function) {
	for i, s := range block.Stmts {
		d, is := s.Cmd.(*syntax.DeclClause)
		if !is || fn == nil || isOneOf(d.Variant.Value, "export", "readonly") {
			continue
		}
		for _, a := range d.Args {
			if a.Name != nil && a.Naked && !assignsFirst(block.Stmts[i+1:], a.Name.Value) {
				p.assign(a.Name.Value, assignment{fn: fn, local: true})
			}
		}
	}
}

// assignsFirst reports whether statements assign a variable before they use it.
func assignsFirst(stmts []*syntax.Stmt, name string) bool {
	for _, s := range stmts {
		c := s.Cmd
		for b, is := c.(*syntax.BinaryCmd); is; b, is = c.(*syntax.BinaryCmd) {
			c = b.X.Cmd
		}
		if c, is := c.(*syntax.CallExpr); is && len(c.Args) == 0 {
			for _, a := range c.Assigns {
				if a.Name != nil && a.Name.Value == name && !a.Append && a.Index == nil && (a.Value == nil || !uses(a.Value, name)) {
					return true
				}
			}
		}
		if uses(s, name) {
			return false
		}
	}
	return false
}

// uses reports whether a node expands a variable.
func uses(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		e, is := n.(*syntax.ParamExp)
		found = found || is && e.Param != nil && e.Param.Value == name
		return !found
	})
	return found
}

// recordBuiltin records the variables that builtin commands assign.
func (p *program) recordBuiltin(c *syntax.CallExpr, fn *function) {
	switch name, words := builtin(c); name {
	case "read", "mapfile", "readarray", "getopts", "printf", "unset":
		for i, a := range words {
			if name == "printf" && (i == 0 || words[i-1].Lit() != "-v") {
				continue
			}
			if syntax.ValidName(a.Lit()) {
				p.assign(a.Lit(), assignment{fn: fn, kind: toAnything})
			}
		}
	case "eval":
		p.evaluates = true
	}
}

// builtin returns the name and the arguments of a command, without the prefixes that
// select the shell's own.
func builtin(c *syntax.CallExpr) (name string, words []*syntax.Word) {
	words = c.Args
	for len(words) > 1 && isOneOf(words[0].Lit(), "builtin", "command") {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", nil
	}
	return words[0].Lit(), words[1:]
}

// lookup returns what a variable may be, or other when that is unknown.
func (p *program) lookup(name string, f *frame, other values) values {
	if len(p.resolving) == 0 {
		p.lookups = 0
	}
	all := p.visible(name, f.fn)
	if p.lookups++; len(all) == 0 || p.evaluates || p.resolving[name] || p.lookups > maxCalls {
		return other // the environment has it, or it depends on itself or on too many
	}
	p.resolving[name] = true
	defer delete(p.resolving, name)
	var v values
	for _, a := range all {
		if a.kind == toAnything {
			return other
		}
		in := f
		if a.fn != f.fn {
			in = &frame{fn: a.fn, depth: f.depth}
		}
		v = append(v, p.assigned(a, in)...)
	}
	return v.limited(other)
}

// assigned returns the values that an assignment may give.
func (p *program) assigned(a assignment, f *frame) (v values) {
	switch a.kind {
	case toList:
		v = values{nil}
		for _, word := range a.words {
			v = product(v, p.expand(word, f))
		}
	case toEach:
		for _, word := range a.words {
			for _, field := range slices.Concat(p.expand(word, f)...) {
				v = append(v, []string{strings.ReplaceAll(field, wildcard, unknown)})
			}
		}
	default:
		for _, word := range a.words {
			for _, text := range p.expandText(word, f) {
				v = append(v, []string{text})
			}
		}
		if len(a.words) == 0 {
			v = values{{""}}
		}
	}
	return v
}

// visible returns the assignments of a variable that a function sees. A function sees
// its own locals, and those of the functions that call it.
func (p *program) visible(name string, fn *function) []assignment {
	all := p.variables[name]
	isLocal := func(fn *function) bool {
		return fn != nil && slices.ContainsFunc(all, func(a assignment) bool { return a.local && a.fn == fn })
	}
	own := isLocal(fn)
	return slices.DeleteFunc(slices.Clone(all), func(a assignment) bool {
		if a.fn == fn {
			return false
		}
		return own || isLocal(a.fn) && (fn == nil || !p.calls(a.fn, fn, map[*function]bool{}))
	})
}

// calls reports whether a function may call another, directly or not. A command whose
// name is unknown may be any function.
func (p *program) calls(caller, callee *function, seen map[*function]bool) bool {
	if caller == nil || seen[caller] || caller.in.isEngineLibrary() {
		return false
	}
	seen[caller] = true
	found := false
	syntax.Walk(caller.decl.Body, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 0 {
			called := c.Args[0].Lit()
			next := p.functions[called]
			found = found || called == "" || next == callee || p.calls(next, callee, seen)
		}
		return !found
	})
	return found
}
