package rbac

import (
	"regexp"
	"strings"
)

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
	dicts     map[string]any  // by the only name that each is given
	grown     map[string]bool // see growing
}

var (
	pythonConstant = regexp.MustCompile(`(?m)^([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:"([^"\\\n]*)"|'([^'\\\n]*)')[ \t]*(?:#.*)?$`)
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
			r.imports(rest)
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
		if text, isText := v.(string); isText {
			r.note(r.completed(text), start)
		}
		return
	}
	if pythonProgram.MatchString(r.text[r.at:]) && !strings.HasSuffix(r.text[:r.at], "which") {
		r.note(r.items(')'), start) // run("kubectl", "get"), or a tuple
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
		parts := []string{r.str(m[0], m[1])}
		for {
			space := len(r.text[r.at:]) - len(strings.TrimLeft(r.text[r.at:], " \t\r\n\\"))
			next := pythonString.FindStringSubmatch(r.text[r.at+space:])
			if next == nil {
				break
			}
			r.at += space
			parts = append(parts, r.str(next[0], next[1])) // "a" "b" is "ab"
		}
		text := strings.Join(parts, "")
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
		list := r.items(']')
		if r.grows(start) {
			list = append(list, manyIn)
		}
		v = list
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
		case r.text[r.at] == '\\' && r.at+1 < len(r.text) && depth == 0 && strings.IndexByte("\\\"'", r.text[r.at+1]) >= 0:
			b.WriteByte('\\') // which a raw string keeps, with the quote behind it
			r.at++
			b.WriteByte(r.text[r.at])
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
	r.at = min(r.at+1, len(r.text))
	return doc
}

func (r *pythonReader) items(closing byte) []any {
	var all []any
	r.at++
	for r.at < len(r.text) && r.text[r.at] != closing {
		before := r.at
		if closing == ')' && pythonArgument.MatchString(r.text[r.at:]) { // check=True
			r.expression("," + string(closing))
			r.at += len(r.text[r.at:]) - len(strings.TrimPrefix(r.text[r.at:], ","))
			continue
		}
		v := r.expression("," + string(closing))
		if strings.TrimSpace(r.text[before:min(r.at, len(r.text))]) != "" {
			all = append(all, v)
		}
		if r.at < len(r.text) && r.text[r.at] == ',' {
			r.at++
		}
	}
	r.at = min(r.at+1, len(r.text))
	return all
}

// expression reads up to one of some characters. It is known when it is one literal,
// or the name of a constant.
func (r *pythonReader) expression(until string) (result any) {
	var v any
	parts := 0
	if rest := strings.TrimLeft(r.text[r.at:], " \t\r\n"); strings.HasPrefix(rest, "*") && until != ":,}" {
		defer func() { result = manyIn }() // *args
	}
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
