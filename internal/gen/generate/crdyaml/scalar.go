package crdyaml

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// width is the column after which a plain scalar continues in the next line.
const width = 80

func (e *Emitter) spaces(n int) {
	const some = "                                                                "
	for ; n > len(some); n -= len(some) {
		e.out = append(e.out, some...)
	}
	e.out = append(e.out, some[:n]...)
}

func (e *Emitter) key(indent int, key string) {
	e.spaces(indent)
	e.out = append(e.out, key...)
	e.out = append(e.out, ':')
}

// plain writes an entry whose value needs no quotes.
func (w *writer) plain(key, value string) {
	if w.err != nil {
		return
	}
	w.key(w.indent, key)
	w.out = append(w.out, ' ')
	w.out = append(w.out, value...)
	w.out = append(w.out, '\n')
}

func (w *writer) set(key string, v bool) {
	if v {
		w.plain(key, "true")
	}
}

func (w *writer) truth(key string, v *bool) {
	if v != nil {
		w.plain(key, strconv.FormatBool(*v))
	}
}

func (w *writer) integer(key string, v *int64) {
	if v != nil {
		w.plain(key, strconv.FormatInt(*v, 10))
	}
}

func (w *writer) text(key, s string) {
	if s != "" {
		w.optional(key, &s)
	}
}

// optional writes a string that may be missing or empty.
func (w *writer) optional(key string, s *string) {
	if s == nil || w.err != nil {
		return
	}
	if w.unstyled {
		w.plain(key, strconv.Quote(*s))
		return
	}
	switch styleOf(*s) {
	case plainStyle:
		w.key(w.indent, key)
		w.fold(*s, w.indent, w.indent+utf8.RuneCountInString(key)+1)
	case quotedStyle:
		w.key(w.indent, key)
		w.quoted(*s, w.indent, w.indent+utf8.RuneCountInString(key)+1)
	case literalStyle:
		w.key(w.indent, key)
		w.literal(*s, w.indent)
	default:
		w.cached(memoKey{w.indent, key, *s, textValue}, func() (any, error) { return *s, nil })
	}
}

func (w *writer) texts(key string, list []string) {
	if len(list) == 0 || w.err != nil {
		return
	}
	for _, s := range list {
		if w.unstyled || styleOf(s) != plainStyle {
			w.cached(memoKey{w.indent, key, fmt.Sprintf("%q", list), textsValue}, func() (any, error) { return list, nil })
			return
		}
	}
	w.key(w.indent, key)
	w.out = append(w.out, '\n')
	for _, s := range list {
		w.spaces(w.indent)
		w.out = append(w.out, '-')
		w.fold(s, w.indent, w.indent+1)
	}
}

// fold writes a space and a plain scalar, starting in a column. After the width, a line
// ends at the next single space.
func (e *Emitter) fold(s string, indent, column int) {
	e.out = append(e.out, ' ')
	column++
	if column+len(s) > width {
		start := 0
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c == ' ' && column > width && s[i-1] != ' ' && s[i+1] != ' ':
				e.out = append(e.out, s[start:i]...)
				e.out = append(e.out, '\n')
				e.spaces(indent + 2)
				start, column = i+1, indent+2
			case utf8.RuneStart(c):
				column++
			}
		}
		s = s[start:]
	}
	e.out = append(e.out, s...)
	e.out = append(e.out, '\n')
}

// quoted writes a space and a scalar in single quotes, starting in a column. It breaks
// lines as fold does.
func (e *Emitter) quoted(s string, indent, column int) {
	e.out = append(e.out, " '"...)
	column += len(" '")
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' && column > width && s[i-1] != ' ' && s[i+1] != ' ':
			e.out = append(e.out, '\n')
			e.spaces(indent + 2)
			column = indent + 2
		case c == '\'':
			e.out = append(e.out, "''"...)
			column += len("''")
		default:
			e.out = append(e.out, c)
			if utf8.RuneStart(c) {
				column++
			}
		}
	}
	e.out = append(e.out, "'\n"...)
}

// literal writes a block scalar that does not end in a line break.
func (e *Emitter) literal(s string, indent int) {
	e.out = append(e.out, " |-\n"...)
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" {
			e.spaces(indent + 2)
			e.out = append(e.out, line...)
		}
		e.out = append(e.out, '\n')
	}
}

// keyText returns the text of a key before its colon.
func (e *Emitter) keyText(key string) (string, error) {
	if e.unstyled {
		return strconv.Quote(key), nil
	}
	const simple = 100 // the library writes longer keys differently
	if len(key) > simple || key == "<<" {
		return "", errUnknown
	}
	if styleOf(key) == plainStyle {
		return key, nil
	}
	written, err := yaml.Marshal(map[string]int{key: 0})
	if err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(string(written), ": 0\n")
	if !ok || strings.Contains(text, "\n") || strings.HasPrefix(text, "? ") {
		return "", errUnknown
	}
	return text, nil
}

type style int

const (
	otherStyle style = iota // the library writes it: in double quotes, with an indentation indicator, or as an error
	plainStyle
	quotedStyle // in single quotes
	literalStyle
)

// words are the strings that start with a letter and that YAML 1.1 reads as another type,
// in all spellings.
var words = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": true, "N": true, "no": true, "No": true, "NO": true, "off": true, "Off": true, "OFF": true,
	"true": true, "True": true, "TRUE": true, "false": true, "False": true, "FALSE": true,
	"null": true, "Null": true, "NULL": true,
}

// styleOf returns how the library (go.yaml.in/yaml/v2) writes a string: plain, literal,
// or in single quotes. It returns otherStyle if that is uncertain.
func styleOf(s string) style {
	if s == "" {
		return otherStyle
	}
	switch c := s[0]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		if len(s) <= len("false") && words[s] {
			return otherStyle
		}
	case c < utf8.RuneSelf && c != '$' && c != '(' && c != '/' && c != '^' && c != '_' && c != '<':
		// Indicators, and the start of numbers and dates. Few literals start with them.
		return otherStyle
	}
	last := s[len(s)-1]
	if last == ' ' || last == '\n' || last == ':' {
		return otherStyle
	}
	multiline, plain := false, true
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !printable(r) {
				return otherStyle
			}
			i += size
			continue
		case c == '\n':
			if s[i-1] == ' ' {
				return otherStyle
			}
			multiline = true
		case c < ' ' || c == 0x7f:
			return otherStyle
		case c == ':' && s[i+1] == ' ', c == '#' && s[i-1] == ' ':
			plain = false
		}
		i++
	}
	switch {
	case multiline:
		return literalStyle
	case plain:
		return plainStyle
	}
	return quotedStyle
}

// printable reports whether the library writes r, which is not ASCII, unchanged and not
// as a line break.
func printable(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufeff', utf8.RuneError:
		return false
	}
	return 0xa0 <= r && r <= 0xfffd
}
