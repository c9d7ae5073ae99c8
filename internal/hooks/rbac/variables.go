package rbac

import (
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// assignment is a place where a variable gets a value. Which assignment ran last is
// not analyzed: a variable may have the value of any of them.
type assignment struct {
	kind  assignmentKind
	words []*syntax.Word
	fn    *syntax.FuncDecl // nil outside of functions
	local bool

	// conditional assigns only for one command, as NS=web f does, or if there is no value
	// yet, as ${NS:=web} does.
	conditional bool
}

type assignmentKind int

const (
	toText    assignmentKind = iota // the words are one, or none for an empty text
	toList                          // an array
	toEach                          // one of the words, in a loop
	toNothing                       // a local that is not set
	toUnknown                       // from input, or the assignment adds to a value
)

// assigned returns the values that the assignments of a variable may give it in a scope,
// or other if one of them is unknown.
func (s *scope) assigned(name, other string) (all values) {
	seen, always := s.visible(name)
	if !always || slices.ContainsFunc(seen, func(a assignment) bool { return a.kind == toUnknown }) {
		return values{{other}} // the environment may have it
	}
	for _, a := range seen {
		in := s
		if a.fn != s.fn {
			in = &scope{program: s.program, script: s.script, fn: a.fn, positional: anyArguments, depth: s.depth}
		}
		for _, v := range in.values(a) {
			if !contains(all, v) {
				all = append(all, v)
			}
		}
	}
	switch {
	case len(all) == 0:
		return values{nil}
	case len(all) > maxValues:
		return values{{other}}
	}
	return all
}

// values returns the values of one assignment.
func (s *scope) values(a assignment) (all values) {
	switch a.kind {
	case toNothing:
		return values{nil}
	case toList:
		return s.fields(a.words...)
	case toEach:
		for _, list := range s.fields(a.words...) {
			for _, field := range list {
				all = append(all, []string{strings.ReplaceAll(field, wildcard, unknown)})
			}
		}
	case toText:
		if len(a.words) == 0 {
			return values{{""}}
		}
		for _, w := range a.words {
			for _, text := range s.texts(w, expand.Literal) {
				all = append(all, []string{text})
			}
		}
	}
	return all
}

// declare records the functions and variables below a node of a function, or of a script.
func (p *program) declare(n syntax.Node, in *script, fn *syntax.FuncDecl) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			if x.Name != nil { // the parser accepts functions without a name, bash does not
				p.functions[x.Name.Value] = function{x, in}
			}
			p.declare(x.Body, in, x)
			return false
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				p.assign(assignment{fn: fn}, x.Assigns...)
			} else if !isKubectl(x.Args[0].Lit()) {
				p.assign(assignment{fn: fn, conditional: true}, x.Assigns...)
			}
			p.declareBuiltin(x, fn)
		case *syntax.ParamExp:
			if x.Exp != nil && x.Exp.Word != nil && isOneOf(x.Exp.Op, syntax.AssignUnset, syntax.AssignUnsetOrNull) {
				p.record(x.Param.Value, assignment{words: []*syntax.Word{x.Exp.Word}, fn: fn, conditional: true})
			}
		case *syntax.DeclClause:
			p.declareClause(x, fn)
		case *syntax.Block:
			p.declareUnset(x.Stmts, fn)
		case *syntax.WordIter:
			a := assignment{kind: toEach, words: x.Items, fn: fn}
			if len(x.Items) == 0 { // the positional arguments
				a.kind = toUnknown
			}
			p.record(x.Name.Value, a)
		case *syntax.BinaryArithm:
			if op := x.Op.String(); strings.HasSuffix(op, "=") && !isOneOf(op, "==", "!=", "<=", ">=") {
				p.record(source(x.X), assignment{kind: toUnknown, fn: fn})
			}
		case *syntax.UnaryArithm:
			if x.Op == syntax.Inc || x.Op == syntax.Dec {
				p.record(source(x.X), assignment{kind: toUnknown, fn: fn})
			}
		}
		return true
	})
}

func (p *program) record(name string, a assignment) {
	p.variables[name] = append(p.variables[name], a)
}

// assign records assignments like a.
func (p *program) assign(like assignment, all ...*syntax.Assign) {
	for _, x := range all {
		if x.Name == nil || x.Naked {
			continue
		}
		a := like
		if x.Value != nil {
			a.words = []*syntax.Word{x.Value}
		}
		if x.Array != nil {
			a.kind = toList
			for _, e := range x.Array.Elems {
				if e.Index != nil || e.Value == nil {
					a.kind = toUnknown
				} else {
					a.words = append(a.words, e.Value)
				}
			}
		}
		if x.Append || x.Index != nil {
			a.kind = toUnknown
		}
		p.record(x.Name.Value, a)
	}
}

// declareClause records what local, export, declare and the like assign.
func (p *program) declareClause(d *syntax.DeclClause, fn *syntax.FuncDecl) {
	p.assign(assignment{fn: fn, local: fn != nil && !isOneOf(d.Variant.Value, "export", "readonly")}, d.Args...)
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil && d.Variant.Value != "export" && referenceOption().MatchString(a.Value.Lit()) {
			p.evaluates = true
		}
	}
	p.evaluates = p.evaluates || d.Variant.Value == "nameref"
}

// referenceOption is the option of declare that makes a variable another name of one.
var referenceOption = lazyregexp.New(`^-[a-zA-Z]*n`)

// declareUnset records locals that have no value, unless the first statement that
// mentions them assigns one.
func (p *program) declareUnset(all []*syntax.Stmt, fn *syntax.FuncDecl) {
	for i, stmt := range all {
		d, is := stmt.Cmd.(*syntax.DeclClause)
		if !is || fn == nil || isOneOf(d.Variant.Value, "export", "readonly") {
			continue
		}
		for _, a := range d.Args {
			if a.Name != nil && a.Naked {
				p.record(a.Name.Value, assignment{kind: unsetOr(all[i+1:], a.Name.Value), fn: fn, local: true})
			}
		}
	}
}

func unsetOr(all []*syntax.Stmt, name string) assignmentKind {
	mention := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for _, stmt := range all {
		if text := source(stmt); mention.MatchString(text) {
			if value, is := strings.CutPrefix(text, name+"="); is && !mention.MatchString(value) {
				return toEach // of no words
			}
			break
		}
	}
	return toNothing
}

// declareBuiltin records the variables that builtin commands assign.
func (p *program) declareBuiltin(c *syntax.CallExpr, fn *syntax.FuncDecl) {
	words := c.Args
	for len(words) > 1 && isOneOf(words[0].Lit(), "builtin", "command") {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	switch name := words[0].Lit(); {
	case name == "eval":
		p.evaluates = true
	case isOneOf(name, "read", "mapfile", "readarray", "getopts", "unset") || name == "printf" && len(words) > 1 && words[1].Lit() == "-v":
		for _, w := range words[1:] {
			p.record(w.Lit(), assignment{kind: toUnknown, fn: fn})
		}
	}
}

// source returns the text of a node, without comments.
func source(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, n); err != nil {
		return ""
	}
	return b.String()
}
