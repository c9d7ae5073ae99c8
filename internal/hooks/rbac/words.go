package rbac

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	unknown  = "\x00"     // stands for text that is known only at run time
	wildcard = "\x00\x00" // as a whole argument: any number of arguments

	// placeholder stands for unknown where a parser rejects control characters.
	placeholder         = "OPERON0HOLE"
	wildcardPlaceholder = placeholder + "S"

	maxValues = 16      // of a word; with more of them it counts as unknown
	maxLength = 1 << 16 // of a value; a longer one counts as unknown
)

// isKnown reports whether all of a value is known.
func isKnown(value string) bool { return !strings.Contains(value, unknown) }

// shown is a value for messages.
func shown(value string) string {
	return strings.NewReplacer(wildcard, "...", unknown, "...").Replace(value)
}

func placeholders(text string) string {
	return strings.NewReplacer(wildcard, wildcardPlaceholder, unknown, placeholder).Replace(text)
}

func withoutPlaceholders(text string) string {
	return strings.NewReplacer(wildcardPlaceholder, wildcard, placeholder, unknown).Replace(text)
}

// values are what an expression may be, each a list of arguments.
type values [][]string

// anything is any number of arguments, and unknownText one argument.
var (
	anything    = values{{wildcard}}
	unknownText = values{{unknown}}
)

// limited removes duplicates, and returns other when there are too many values.
func (v values) limited(other values) values {
	var distinct values
	for _, fields := range v {
		if len(fields) > maxCalls {
			fields = []string{wildcard}
		}
		if !slices.ContainsFunc(distinct, func(d []string) bool { return slices.Equal(d, fields) }) {
			distinct = append(distinct, fields)
		}
	}
	if len(distinct) > maxValues {
		return other
	}
	return distinct
}

// text joins each value to one argument.
func (v values) text() []string {
	var all []string
	for _, fields := range v {
		all = append(all, strings.Join(fields, " "))
	}
	return all
}

// product appends each list of b to each list of a.
func product(a, b values) values {
	var all values
	for _, x := range a {
		for _, y := range b {
			all = append(all, append(x[:len(x):len(x)], y...))
		}
	}
	return all.limited(anything)
}

// expand returns the arguments that a word may expand to.
func (p *program) expand(w *syntax.Word, f *frame) values {
	b := &builder{all: []partial{{}}}
	for _, part := range w.Parts {
		p.part(b, part, f, false)
	}
	return b.values()
}

// expandText is expand for a word that is always one text, as in an assignment.
func (p *program) expandText(w *syntax.Word, f *frame) []string {
	b := &builder{all: []partial{{}}}
	for _, part := range w.Parts {
		p.part(b, part, f, true)
	}
	return b.values().text()
}

// builder expands a word part by part.
type builder struct{ all []partial }

// partial is a word so far: complete arguments, and the one that the next part extends.
type partial struct {
	fields []string
	last   string
	quoted bool // the last one is an argument even when it is empty
}

func (b *builder) values() values {
	var all values
	for _, p := range b.all {
		fields := p.fields
		if p.quoted || p.last != "" {
			fields = append(fields[:len(fields):len(fields)], p.last)
		}
		all = append(all, fields)
	}
	return all.limited(anything)
}

// add extends the word by any of some lists of arguments.
func (b *builder) add(v values, quoted bool) {
	if len(b.all)*len(v) > maxValues {
		b.all = []partial{{last: unknown}}
		return
	}
	var next []partial
	for _, p := range b.all {
		for _, fields := range v {
			n := partial{slices.Clone(p.fields), p.last, p.quoted || quoted}
			for i, field := range fields {
				if i > 0 {
					n.fields = append(n.fields, n.last)
					n.last = ""
				}
				n.last = joined(n.last, field)
			}
			next = append(next, n)
		}
	}
	b.all = next
}

// joined concatenates texts. Two adjacent unknown ones are one.
func joined(a, b string) string {
	if strings.HasSuffix(a, unknown) && strings.HasPrefix(b, unknown) {
		start, rest := strings.TrimRight(a, unknown), strings.TrimLeft(b, unknown)
		n := min(max(len(a)-len(start), len(b)-len(rest)), len(wildcard))
		a, b = start+wildcard[:n], rest
	}
	if len(a)+len(b) > maxLength {
		return unknown
	}
	return a + b
}

func (p *program) part(b *builder, part syntax.WordPart, f *frame, quoted bool) {
	switch x := part.(type) {
	case *syntax.Lit:
		b.add(values{{withoutPlaceholders(unescape(x.Value, quoted))}}, quoted)
	case *syntax.SglQuoted:
		b.add(values{{withoutPlaceholders(x.Value)}}, true)
	case *syntax.DblQuoted:
		b.add(values{nil}, true)
		for _, inner := range x.Parts {
			p.part(b, inner, f, true)
		}
		if len(x.Parts) == 1 { // "$@" without arguments is no argument
			if e, is := x.Parts[0].(*syntax.ParamExp); is && isList(e) {
				for i := range b.all {
					b.all[i].quoted = b.all[i].last != "" || len(b.all[i].fields) > 0
				}
			}
		}
	case *syntax.ParamExp:
		switch v := p.parameter(x, f); {
		case !quoted:
			b.add(split(v), false)
		case isList(x):
			b.add(v, false)
		default:
			var texts values
			for _, t := range v.text() {
				texts = append(texts, []string{t})
			}
			b.add(texts, true)
		}
	case *syntax.CmdSubst:
		b.add(p.substituted(x, f), quoted)
	default: // arithmetic, patterns
		b.add(unknownText, quoted)
	}
}

// isList reports whether an expansion is one of all arguments or elements.
func isList(e *syntax.ParamExp) bool {
	if e.Param == nil || e.Param.Value == "@" {
		return e.Param != nil
	}
	w, is := e.Index.(*syntax.Word)
	return is && w.Lit() == "@"
}

// split divides values into words, as the shell does outside of quotes.
func split(v values) values {
	var all values
	for _, fields := range v {
		var words []string
		for _, field := range fields {
			words = append(words, strings.Fields(field)...)
		}
		all = append(all, words)
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

// parameter returns what the expansion of a parameter may be.
func (p *program) parameter(e *syntax.ParamExp, f *frame) values {
	other := unknownText
	if isList(e) {
		other = anything
	}
	if e.Length || e.Excl || e.Width || e.Slice != nil || e.Repl != nil || e.Names != 0 || e.Param == nil {
		return other
	}
	name := e.Param.Value
	var v values
	switch {
	case name == "@" || name == "*":
		if v = f.args; v == nil {
			v = anything
		}
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		v = f.argument(int(name[0] - '0'))
	default:
		if v = p.lookup(name, f, other); e.Index != nil && !isList(e) {
			return other // one element
		}
	}
	return p.withDefault(v, e, f, other)
}

// withDefault applies ${name:-word} and the like.
func (p *program) withDefault(v values, e *syntax.ParamExp, f *frame, other values) values {
	if e.Exp == nil {
		return v
	}
	switch e.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		var all values
		for _, fields := range v {
			switch {
			case len(fields) > 1 || len(fields) == 1 && fields[0] != "":
				all = append(all, fields)
			case e.Exp.Word == nil:
				all = append(all, nil)
			default:
				all = append(all, p.expand(e.Exp.Word, f)...)
			}
		}
		return all.limited(anything)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return v
	}
	return other
}

// argument returns what a positional argument may be, from 1.
func (f *frame) argument(number int) values {
	if f.args == nil {
		return unknownText
	}
	var v values
	for _, args := range f.args {
		switch {
		case slices.Contains(args[:min(number, len(args))], wildcard):
			v = append(v, []string{unknown})
		case number <= len(args):
			v = append(v, []string{args[number-1]})
		default:
			v = append(v, []string{""})
		}
	}
	return v.limited(unknownText)
}
