package rbac

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scope are the variables of a program, or of a text that runs in one.
type scope struct {
	vars     map[string][]writer
	exported map[string]bool // false when it may be so no more; "" is any
}

func newScope() scope { return scope{map[string][]writer{}, map[string]bool{}} }

// writer is a place where a variable gets its value.
type writer struct {
	fn    *function
	words []*syntax.Word // one of them, or in an array all of them
	list  bool           // an array
	each  bool           // a loop, over all that the words become
	local bool
	naked bool // a declaration that says no value
	any   bool // some value
}

func (s scope) write(name string, w writer) { s.vars[name] = append(s.vars[name], w) }

// read notes the variables of a text. What its functions write may be anything.
func (s scope) read(text *syntax.File) {
	visit(text, func(n syntax.Node, stack []syntax.Node) {
		if !slices.ContainsFunc(stack, func(n syntax.Node) bool { _, is := n.(*syntax.FuncDecl); return is }) {
			s.note(n, nil)
			return
		}
		s.mayWrite(n)
	})
}

// mayWrite notes the variables that a node writes, with any value.
func (s scope) mayWrite(n syntax.Node) {
	inner := newScope()
	inner.note(n, nil)
	for name, all := range inner.vars {
		for _, w := range all {
			w.any = true
			s.write(name, w)
		}
	}
	for name, is := range inner.exported {
		s.export(name, is)
	}
}

// note keeps the variables that a node of a function, or of none, writes.
func (s scope) note(n syntax.Node, fn *function) {
	switch x := n.(type) {
	case *syntax.CallExpr:
		for _, a := range x.Assigns {
			s.assign(a, fn, false)
		}
		s.builtin(x, fn)
	case *syntax.DeclClause:
		s.declare(x, fn)
	case *syntax.WordIter:
		s.write(x.Name.Value, writer{fn: fn, words: x.Items, each: true, any: !x.InPos.IsValid()})
	}
}

func (s scope) export(name string, is bool) {
	before, known := s.exported[name]
	s.exported[name] = is && (before || !known)
}

func (s scope) assign(a *syntax.Assign, fn *function, local bool) {
	if a.Name == nil {
		return
	}
	w := writer{fn: fn, local: local && fn != nil}
	switch {
	case a.Naked: // it gets its value elsewhere, or none
		if w.naked = w.local; !w.local {
			return
		}
	case a.Append || a.Index != nil:
		w.any = true
		if a.Value != nil {
			w.words = []*syntax.Word{a.Value}
		}
		if a.Array != nil {
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					w.words = append(w.words, e.Value)
				}
			}
		}
	case a.Array != nil:
		w.list = true
		for _, e := range a.Array.Elems {
			w.any = w.any || e.Index != nil || e.Value == nil
			w.words = append(w.words, e.Value)
		}
	case a.Value != nil:
		w.words = []*syntax.Word{a.Value}
	}
	s.write(a.Name.Value, w)
}

// declare notes what export, declare and the like say.
func (s scope) declare(d *syntax.DeclClause, fn *function) {
	exports, hides, refers := d.Variant.Value == "export", false, d.Variant.Value == "nameref"
	for _, a := range d.Args {
		if a.Name == nil {
			option := ""
			if a.Value != nil {
				option = a.Value.Lit()
			}
			minus, plus := strings.HasPrefix(option, "-"), strings.HasPrefix(option, "+")
			hides = hides || plus && strings.Contains(option, "x") || minus && exports && strings.Contains(option, "n")
			refers = refers || minus && d.Variant.Value != "export" && strings.Contains(option, "n")
			exports = exports || minus && strings.Contains(option, "x")
			continue
		}
		s.assign(a, fn, !isOneOf(d.Variant.Value, "export", "readonly"))
		if exports || hides {
			s.export(a.Name.Value, !hides)
		}
		if refers { // what is written to it is another's
			s.write(a.Name.Value, writer{fn: fn, any: true})
			if a.Value != nil && syntax.ValidName(a.Value.Lit()) {
				s.write(a.Value.Lit(), writer{any: true})
			}
		}
	}
}

// builtin notes the variables that builtin commands write.
func (s scope) builtin(c *syntax.CallExpr, fn *function) {
	switch name, words := builtin(c); name {
	case "read", "mapfile", "readarray", "getopts", "printf", "unset":
		for i, a := range words {
			if name == "printf" && (i == 0 || words[i-1].Lit() != "-v") {
				continue
			}
			if name := a.Lit(); syntax.ValidName(name) {
				s.write(name, writer{fn: fn, any: true})
			}
		}
	case "set":
		for i, a := range words {
			option := a.Lit()
			if strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "a") || i > 0 && option == "allexport" {
				s.export("", true)
			}
		}
	case "eval", "trap":
		if name == "trap" {
			words = words[:min(1, len(words))]
		}
		if file, err := parseText(written(words)); err == nil {
			visit(file, func(n syntax.Node, _ []syntax.Node) { s.mayWrite(n) })
		}
	}
}

// written is what stands in words, with stand-ins for what is expanded in them.
func written(words []*syntax.Word) string {
	var b strings.Builder
	var write func(parts []syntax.WordPart, quoted bool)
	write = func(parts []syntax.WordPart, quoted bool) {
		for _, part := range parts {
			switch x := part.(type) {
			case *syntax.Lit:
				b.WriteString(unescape(x.Value, quoted))
			case *syntax.SglQuoted:
				b.WriteString(x.Value)
			case *syntax.DblQuoted:
				write(x.Parts, true)
			default:
				b.WriteString(standIn)
			}
		}
	}
	for _, w := range words {
		write(w.Parts, false)
		b.WriteByte(' ')
	}
	return b.String()
}

// written by, in a frame.
type bound struct {
	writer
	in *frame
}

// writers are those of a variable at a place: of the text there, and of what is around
// it, as far as that hands it on. What env gives is known.
func (p *program) writers(name string, f *frame) (all []bound, given values) {
	for ; f.outer != nil; f = f.outer {
		for _, w := range f.own.vars[name] {
			all = append(all, bound{w, f})
		}
		if f.by == nil { // eval
			continue
		}
		if value, is := f.outer.env[name]; is {
			return all, values{{value}}
		}
		if f.outer.alone || !p.handsOn(name, f) {
			return all, nil
		}
	}
	for _, w := range p.visible(name, f.fn) {
		in := f
		if w.fn != f.fn {
			in = &frame{fn: w.fn, deep: f.deep}
		}
		all = append(all, bound{w, in})
	}
	return all, nil
}

// handsOn reports whether a variable is one of the process that runs a text.
func (p *program) handsOn(name string, f *frame) bool {
	if slices.ContainsFunc(f.by.Assigns, func(a *syntax.Assign) bool { return a.Name.Value == name }) {
		return true
	}
	scopes := []scope{p.scope}
	for f = f.outer; f.outer != nil; f = f.outer {
		scopes = append(scopes, f.own)
	}
	exported := false
	for _, s := range scopes {
		is, known := s.exported[name]
		if known && !is {
			return false
		}
		exported = exported || is || s.exported[""]
	}
	return exported
}

// lookup returns what a variable may be, wherever the script is.
func (p *program) lookup(name string, f *frame, unknown values) values {
	if len(p.looking) == 0 {
		p.lookups = 0
	}
	all, v := p.writers(name, f)
	if p.lookups++; len(all)+len(v) == 0 || p.looking[name] || p.lookups > widest {
		return unknown // the environment has it, or it is made of itself, or of too many
	}
	p.looking[name] = true
	defer delete(p.looking, name)
	for _, w := range all {
		if w.any {
			return unknown
		}
		v = append(v, p.written(w)...)
	}
	return v.limited(unknown[0][0] == hole)
}

// written are the values that a place gives.
func (p *program) written(w bound) (v values) {
	if w.list {
		v = values{nil}
	}
	for _, word := range w.words {
		switch {
		case w.list:
			v = product(v, p.expand(word, w.in))
		case w.each:
			for _, field := range slices.Concat(p.expand(word, w.in)...) {
				v = append(v, []string{strings.ReplaceAll(field, many, hole)})
			}
		default:
			for _, text := range p.expandText(word, w.in) {
				v = append(v, []string{text})
			}
		}
	}
	if len(w.words) == 0 && !w.list && !w.each {
		v = values{{""}}
	}
	return v
}
