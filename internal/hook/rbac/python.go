package rbac

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// python allows what a hook in Python does, as far as it is written out: patch
// operations and calls of kubectl that are literals.
func (d *deriver) python(s Source) {
	r := &pythonReader{text: string(s.Text), constants: map[string]string{}}
	r.read()
	p := &program{deriver: d}
	in := &script{Source: s}
	operations := 0
	for _, l := range r.found {
		at := place{s.Path, l.line, l.column}
		switch v := l.value.(type) {
		case map[string]any:
			if o, is := operationOf(at, v); is {
				operations++
				d.operate(o, s.Text)
			}
		case []any:
			p.arguments(v, at, in)
		case string:
			p.line(v, at, in)
		}
	}
	d.uses(r, in, operations)
}

// uses reports what a hook does by way of libraries.
func (d *deriver) uses(r *pythonReader, in *script, operations int) {
	p := &program{deriver: d}
	for _, u := range r.uses {
		at := place{in.Path, u.line, u.column}
		switch {
		case u.value == "kubernetes":
			p.unseen(at, in, "the client of module kubernetes")
		case operations == 0:
			p.unseen(at, in, "no patch operation is written out")
		}
	}
}

// arguments handles a list that may be the arguments of kubectl.
func (p *program) arguments(list []any, at place, in *script) {
	var args []string
	for _, v := range list {
		text, is := v.(string)
		if !is {
			text = hole
		}
		args = append(args, strings.ReplaceAll(text, standIn, hole))
	}
	if len(args) > 0 && args[0] == "kubectl" {
		p.kubectlAt(args[1:], at, in)
	}
}

// line handles a text that may be a command line.
func (p *program) line(text string, at place, in *script) {
	if !strings.HasPrefix(text, "kubectl ") {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), in.Path)
	if err != nil {
		p.unseen(at, in, "%s", strings.ReplaceAll(text, standIn, "..."))
		return
	}
	inner := &program{deriver: p.deriver, vars: map[string][]writer{}, looking: map[string]bool{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		c, is := n.(*syntax.CallExpr)
		if !is || len(c.Args) == 0 || c.Args[0].Lit() != "kubectl" {
			return true
		}
		for _, args := range inner.forms(c, &frame{}) {
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], standIn, hole)
			}
			p.kubectlAt(args[1:], at, in)
		}
		return true
	})
}

// found is a value in a source, and its place.
type found struct {
	value        any
	line, column int
}

// pythonReader finds the literals in Python that may concern an API server. It knows
// strings, dicts, lists and names of constants, and takes the rest for unknown.
type pythonReader struct {
	text      string
	at        int
	found     []found // dicts, lists and texts, outer ones first
	uses      []found // names of what is used
	constants map[string]string
	dicts     map[string]any // by the only name that each is given
}

var (
	pythonConstant = regexp.MustCompile(`(?m)^([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:"([^"\\\n]*)"|'([^'\\\n]*)')[ \t]*(?:#.*)?$`)
	pythonClient   = regexp.MustCompile(`^(?:import|from)[ \t]+kubernetes\b`)
	pythonWord     = regexp.MustCompile(`^[A-Za-z_][\w.]*`)
	pythonString   = regexp.MustCompile(`^[rRbBuUfF]{0,2}("""|'''|"|')`)
)

// read finds all literals.
func (r *pythonReader) read() {
	assigned := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)(?:^|[ \t;(,])([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?[+|]?=[^=]`).FindAllStringSubmatch(r.text, -1) {
		assigned[m[1]]++
	}
	for _, m := range pythonConstant.FindAllStringSubmatch(r.text, -1) {
		if assigned[m[1]] == 1 {
			r.constants[m[1]] = m[2] + m[3]
		}
	}
	r.readDicts(assigned)
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case rest[0] == '#':
			r.skipLine()
		case r.at == 0 || r.text[r.at-1] == '\n':
			if pythonClient.MatchString(strings.TrimLeft(rest, " \t")) {
				r.use("kubernetes")
			}
			r.one()
		default:
			r.one()
		}
	}
}

// one reads a value, or passes over something else.
func (r *pythonReader) one() {
	start := r.at
	if v, is := r.value(); is {
		if _, isText := v.(string); isText {
			r.note(v, start)
		}
		return
	}
	if w := pythonWord.FindString(r.text[r.at:]); w != "" {
		r.at += len(w)
		r.patch(w)
		return
	}
	r.at++
}

func (r *pythonReader) note(v any, start int) {
	line := strings.Count(r.text[:start], "\n") + 1
	r.found = append(r.found, found{v, line, start - strings.LastIndex(r.text[:start], "\n")})
}

func (r *pythonReader) use(what string) {
	indent := len(r.text[r.at:]) - len(strings.TrimLeft(r.text[r.at:], " \t"))
	r.uses = append(r.uses, found{what, strings.Count(r.text[:r.at], "\n") + 1, indent + 1})
}

func (r *pythonReader) skipLine() {
	if i := strings.IndexByte(r.text[r.at:], '\n'); i >= 0 {
		r.at += i
		return
	}
	r.at = len(r.text)
}

// value reads a string, a dict or a list that begins here.
func (r *pythonReader) value() (v any, is bool) {
	start := r.at
	if m := pythonString.FindStringSubmatch(r.text[r.at:]); m != nil {
		text := r.str(m[0], m[1])
		if text == patchPath {
			line := strings.Count(r.text[:start], "\n") + 1
			r.uses = append(r.uses, found{text, line, start - strings.LastIndex(r.text[:start], "\n")})
		}
		return text, true
	}
	switch r.text[r.at] {
	case '{':
		n := len(r.found)
		r.found = append(r.found, found{})
		v = r.dict()
		inner := append([]found(nil), r.found[n+1:]...)
		r.found = r.found[:n]
		r.note(v, start)
		r.found = append(r.found, inner...)
		return v, true
	case '[':
		n := len(r.found)
		v = r.items(']')
		inner := append([]found(nil), r.found[n:]...)
		r.found = r.found[:n]
		r.note(v, start)
		r.found = append(r.found, inner...)
		return v, true
	}
	return nil, false
}

// str reads a string after its prefix and quotes. Of a formatted one, what stands in
// braces is not known.
func (r *pythonReader) str(opening, quotes string) string {
	prefix := strings.ToLower(strings.TrimSuffix(opening, quotes))
	r.at += len(opening)
	var b strings.Builder
	depth := 0
	for r.at < len(r.text) {
		switch {
		case strings.HasPrefix(r.text[r.at:], quotes) && depth == 0:
			r.at += len(quotes)
			return b.String()
		case r.text[r.at] == '\\' && r.at+1 < len(r.text) && !strings.Contains(prefix, "r"):
			r.at++
			b.WriteString(map[byte]string{'n': "\n", 't': "\t", '\n': ""}[r.text[r.at]])
			if strings.IndexByte("nt\n", r.text[r.at]) < 0 {
				b.WriteByte(r.text[r.at])
			}
		case strings.Contains(prefix, "f") && (strings.HasPrefix(r.text[r.at:], "{{") || strings.HasPrefix(r.text[r.at:], "}}")):
			b.WriteByte(r.text[r.at])
			r.at++
		case strings.Contains(prefix, "f") && r.text[r.at] == '{':
			if depth++; depth == 1 {
				b.WriteString(standIn)
			}
		case depth > 0 && r.text[r.at] == '}':
			depth--
		case depth == 0:
			b.WriteByte(r.text[r.at])
		}
		r.at++
	}
	return b.String()
}

// dict reads a dict, or a set.
func (r *pythonReader) dict() map[string]any {
	doc := map[string]any{}
	r.at++
	for r.at < len(r.text) {
		key := r.expression(":,}")
		if r.at < len(r.text) && r.text[r.at] == ':' {
			r.at++
			v := r.expression(",}")
			if name, isText := key.(string); isText {
				doc[name] = v
			}
		}
		if r.at >= len(r.text) || r.text[r.at] == '}' {
			break
		}
		r.at++
	}
	r.at++
	return doc
}

func (r *pythonReader) items(closing byte) []any {
	var all []any
	r.at++
	for r.at < len(r.text) && r.text[r.at] != closing {
		before := r.at
		v := r.expression("," + string(closing))
		if strings.TrimSpace(r.text[before:min(r.at, len(r.text))]) != "" {
			all = append(all, v)
		}
		if r.at < len(r.text) && r.text[r.at] == ',' {
			r.at++
		}
	}
	r.at++
	return all
}

// expression reads up to one of some characters. It is known when it is one literal,
// or the name of a constant.
func (r *pythonReader) expression(until string) any {
	var v any
	parts := 0
	for r.at < len(r.text) && strings.IndexByte(until, r.text[r.at]) < 0 {
		switch c := r.text[r.at]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			r.at++
			continue
		case c == '#':
			r.skipLine()
			continue
		case c == '(':
			r.items(')')
			parts += 2
			continue
		}
		parts++
		if literal, is := r.value(); is {
			v = literal
		} else if w := pythonWord.FindString(r.text[r.at:]); w != "" {
			r.at += len(w)
			r.patch(w)
			v = standIn
			if text, known := r.constants[w]; known {
				v = text
			}
		} else {
			r.at++
			parts++
		}
	}
	if parts != 1 {
		return standIn
	}
	return v
}
