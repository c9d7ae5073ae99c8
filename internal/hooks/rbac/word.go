package rbac

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What stands in values for text that is known only when a script runs.
const (
	hole = "\x00"     // some text
	many = "\x00\x00" // as a whole argument: any number of arguments
)

// most is how many values of a word are looked at; with more of them it counts as
// not known.
const most = 16

// isKnown reports whether all of a value is.
func isKnown(value string) bool { return !strings.Contains(value, hole) }

// values are what an expression may be, each a list of arguments.
type values [][]string

func (v values) limited(quoted bool) values {
	var distinct values
	for _, fields := range v {
		if len(fields) > widest {
			fields = []string{many}
		}
		if !slices.ContainsFunc(distinct, func(d []string) bool { return slices.Equal(d, fields) }) {
			distinct = append(distinct, fields)
		}
	}
	if len(distinct) > most {
		if quoted {
			return values{{hole}}
		}
		return values{{many}}
	}
	return distinct
}

// text joins what a word may be, for where it is one argument in any case.
func (v values) text() []string {
	var all []string
	for _, fields := range v {
		all = append(all, strings.Join(fields, " "))
	}
	return all
}

// expand returns what a word may become.
func (p *program) expand(w *syntax.Word, f *frame) values {
	b := &builder{all: []partial{{}}}
	for _, part := range w.Parts {
		p.part(b, part, f, false)
	}
	return b.values()
}

// partial is a word in the making: whole arguments, and the one that is open.
type partial struct {
	fields []string
	open   string
	there  bool // the open one is an argument even when it is empty
}

type builder struct{ all []partial }

func (b *builder) values() values {
	var all values
	for _, p := range b.all {
		fields := p.fields
		if p.there || p.open != "" {
			fields = append(fields[:len(fields):len(fields)], p.open)
		}
		all = append(all, fields)
	}
	return all.limited(false)
}

// add appends text to the open argument.
func (b *builder) add(text string, quoted bool) {
	for i := range b.all {
		b.all[i].open = joined(b.all[i].open, text)
		b.all[i].there = b.all[i].there || quoted
	}
}

// addAny appends each of some lists of arguments.
func (b *builder) addAny(v values, quoted bool) {
	if len(b.all)*len(v) > most {
		b.all = []partial{{open: hole}}
		return
	}
	var next []partial
	for _, p := range b.all {
		for _, fields := range v {
			n := partial{slices.Clone(p.fields), p.open, p.there || quoted}
			for i, field := range fields {
				if i > 0 {
					n.fields = append(n.fields, n.open)
					n.open = ""
				}
				n.open = joined(n.open, field)
			}
			next = append(next, n)
		}
	}
	b.all = next
}

// longest is how long a value is looked at; a longer one counts as not known.
const longest = 1 << 16

// joined is one text behind another. Two unknown ones are one.
func joined(a, b string) string {
	if strings.HasSuffix(a, hole) && strings.HasPrefix(b, hole) {
		start, rest := strings.TrimRight(a, hole), strings.TrimLeft(b, hole)
		holes := min(max(len(a)-len(start), len(b)-len(rest)), len(many))
		a, b = start+many[:holes], rest
	}
	if len(a)+len(b) > longest {
		return hole
	}
	return a + b
}

func (p *program) part(b *builder, part syntax.WordPart, f *frame, quoted bool) {
	switch x := part.(type) {
	case *syntax.Lit:
		b.add(unescape(x.Value, quoted), quoted)
	case *syntax.SglQuoted:
		b.add(x.Value, true)
	case *syntax.DblQuoted:
		b.add("", true)
		for _, inner := range x.Parts {
			p.part(b, inner, f, true)
		}
		if len(x.Parts) == 1 { // "$@" of nothing is no argument
			if e, is := x.Parts[0].(*syntax.ParamExp); is && isList(e) {
				for i := range b.all {
					b.all[i].there = b.all[i].open != "" || len(b.all[i].fields) > 0
				}
			}
		}
	case *syntax.ParamExp:
		v := p.param(x, f)
		switch {
		case quoted && !isList(x):
			var whole values
			for _, t := range v.text() {
				whole = append(whole, []string{t})
			}
			v = whole
		case !quoted:
			v = split(v)
		}
		b.addAny(v, quoted && !isList(x))
	case *syntax.CmdSubst:
		b.addAny(p.printedBy(x, f), quoted)
	default: // arithmetic, patterns
		b.add(hole, quoted)
	}
}

// printedBy returns what a command prints as far as it is known: kubectl get -o name
// prints kinds, and names behind them.
func (p *program) printedBy(s *syntax.CmdSubst, f *frame) values {
	unknown := values{{hole}}
	if len(s.Stmts) != 1 {
		return unknown
	}
	c, is := s.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 || !isKubectl(c.Args[0].Lit()) {
		return p.printed(s.Stmts[0], f)
	}
	var all values
	for _, args := range p.forms(c, f) {
		r := parseKubectl(args)
		if r.unknown != "" || r.command != "get" || r.options["output"] != "name" || len(r.words) == 0 {
			return unknown
		}
		kind, err := p.Kinds.Argument(r.words[0])
		if err != nil {
			return unknown
		}
		all = append(all, []string{kind.String() + "/" + hole})
	}
	return all
}

// printed are the texts that a statement prints, such as cat with a here-document.
func (p *program) printed(s *syntax.Stmt, f *frame) values {
	unknown := values{{hole}}
	i := slices.IndexFunc(p.scripts, func(in *script) bool { return in.parents[s] != nil })
	if i < 0 {
		return unknown
	}
	texts, known := p.output(s, p.scripts[i], f)
	if !known {
		return unknown
	}
	var all values
	for _, text := range texts {
		all = append(all, []string{strings.TrimRight(text, "\n")})
	}
	return all.limited(true)
}

// isList reports whether an expansion is one of all arguments or elements.
func isList(e *syntax.ParamExp) bool {
	if e.Param.Value == "@" {
		return true
	}
	w, is := e.Index.(*syntax.Word)
	return is && w.Lit() == "@"
}

// split takes values apart as the shell does outside of quotes.
func split(v values) values {
	var all values
	for _, fields := range v {
		var parts []string
		for _, field := range fields {
			parts = append(parts, strings.Fields(field)...)
		}
		all = append(all, parts)
	}
	return all
}

func unescape(text string, quoted bool) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("\\\"$`\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// param returns what an expansion of a parameter may be.
func (p *program) param(e *syntax.ParamExp, f *frame) values {
	unknown := values{{hole}}
	if isList(e) {
		unknown = values{{many}}
	}
	if e.Length || e.Excl || e.Width || e.Slice != nil || e.Repl != nil || e.Names != 0 || e.Param == nil {
		return unknown
	}
	name := e.Param.Value
	var v values
	switch {
	case name == "@" || name == "*":
		v = f.argumentsAt(e)
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		v = f.argument(e, int(name[0]-'0'))
	default:
		if v = p.lookup(name, f, unknown); e.Index != nil && !isList(e) {
			return unknown // one element
		}
	}
	return p.orDefault(v, e, f, unknown)
}

// orDefault applies what an expansion says of a parameter without a value.
func (p *program) orDefault(v values, e *syntax.ParamExp, f *frame, unknown values) values {
	if e.Exp == nil {
		return v
	}
	switch e.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		var all values
		for _, fields := range v {
			if len(fields) > 1 || len(fields) == 1 && fields[0] != "" {
				all = append(all, fields)
				continue
			}
			if e.Exp.Word == nil {
				all = append(all, nil)
				continue
			}
			all = append(all, p.expand(e.Exp.Word, f)...)
		}
		return all.limited(false)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return v
	}
	return unknown
}

// expandText is expand for a word that is one text in any case, as in an
// assignment.
func (p *program) expandText(w *syntax.Word, f *frame) []string {
	b := &builder{all: []partial{{}}}
	for _, part := range w.Parts {
		p.part(b, part, f, true)
	}
	return b.values().text()
}

// product appends each list of b to each list of a.
func product(a, b values) values {
	var all values
	for _, x := range a {
		for _, y := range b {
			all = append(all, append(x[:len(x):len(x)], y...))
		}
	}
	return all.limited(false)
}
