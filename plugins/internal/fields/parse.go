package fields

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// example is a description for hints.
const example = "write NAME:TYPE, as in deployments:int32,min=1 or heartbeat.interval:duration?"

var jsonName = lazyregexp.New(`^[a-z][a-zA-Z0-9]*$`)

// Parse parses the description of a field:
//
//	[status.]PATH:[[]|map[string]]TYPE[?][,OPTION]...
//
// PATH has names separated by dots. A name before the last one can end in [] for a list of objects
// and in ? for an optional object. An error names the position of the first wrong character.
func Parse(description string) (Field, error) {
	p := parser{text: description}
	f := Field{Text: description}
	for _, parse := range []func(*Field) error{p.path, p.fieldType, p.options} {
		if err := parse(&f); err != nil {
			return f, err
		}
	}
	return f, f.check()
}

// parser reads a description from left to right.
type parser struct {
	text string
	at   int // the index of the next byte
}

// until returns the text up to the first of the bytes in end, or the rest. It does not consume that byte.
func (p *parser) until(end string) string {
	rest := p.text[p.at:]
	if i := strings.IndexAny(rest, end); i >= 0 {
		rest = rest[:i]
	}
	p.at += len(rest)
	return rest
}

// take consumes a word if it comes next.
func (p *parser) take(word string) bool {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) errorf(at int, hint, format string, args ...any) error {
	return errorAt(p.text, at, hint, format, args...)
}

func (p *parser) path(f *Field) error {
	f.Status = p.take("status.")
	if !f.Status {
		p.take("spec.")
	}
	for {
		start := p.at
		s := step{name: p.until(".:?[,="), at: start}
		if !jsonName().MatchString(s.name) {
			return p.errorf(start, nameHint(s.name), "%q is not the name of a field", s.name)
		}
		s.list = p.take("[]")
		s.optional = p.take("?")
		f.path = append(f.path, s)
		if p.take(".") {
			continue
		}
		if !p.take(":") {
			return p.errorf(p.at, example, "the type is missing")
		}
		if s.list || s.optional {
			return p.errorf(start+len(s.name), "write [] before the type and ? after it, as in ports:[]int32?", "this belongs to the type")
		}
		return nil
	}
}

// nameHint suggests a valid name.
func nameHint(name string) string {
	var camel strings.Builder
	for i, word := range strings.FieldsFunc(name, func(r rune) bool { return !isLetterOrDigit(r) }) {
		if i == 0 {
			camel.WriteString(strings.ToLower(word[:1]) + word[1:])
			continue
		}
		camel.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if try := camel.String(); jsonName().MatchString(try) {
		return "try " + try + ": names are in camelCase, as in JSON"
	}
	return example
}

func isLetterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func (p *parser) fieldType(f *Field) error {
	f.list = p.take("[]")
	if !f.list {
		f.mapped = p.take("map[string]")
	}
	start := p.at
	name := p.until("?,")
	var known bool
	if f.typ, known = find(name); !known {
		hint := typeHint(name)
		if near := fault.Nearest(name, typeNames()); near != "" && otherNames[strings.ToLower(name)] == "" {
			hint = "did you mean " + near + "? " + hint
		}
		return p.errorf(start, hint, "there is no type %q", name)
	}
	f.optional = p.take("?")
	return nil
}

func (p *parser) options(f *Field) error {
	for p.at < len(p.text) {
		if !p.take(",") {
			return p.errorf(p.at, "separate options with commas", "unexpected %q", p.text[p.at:])
		}
		start := p.at
		name := p.until("=,")
		o, known := options[name]
		if !known {
			hint := "options: " + strings.Join(optionNames(), ", ")
			if near := cmp.Or(fault.Nearest(name, optionNames()), abbreviation(name)); near != "" {
				hint = "did you mean " + near + "? " + hint
			}
			return p.errorf(start, hint, "there is no option %q", name)
		}
		hasValue := p.take("=")
		valueAt := p.at
		value, err := p.value()
		switch {
		case err != nil:
			return err
		case o.switched && hasValue:
			return p.errorf(valueAt-1, "write "+name+" alone", "the option %s has no value", name)
		case !o.switched && (!hasValue || value == ""):
			return p.errorf(p.at, "write "+name+"="+o.placeholder, "the option %s needs a value", name)
		}
		if err := f.add(rule{name: name, value: value, at: start, valueAt: valueAt}); err != nil {
			return err
		}
	}
	return nil
}

// value reads the value of an option. In double quotes, it can contain commas, and \" is a quote.
func (p *parser) value() (string, error) {
	start := p.at
	if !p.take(`"`) {
		return p.until(","), nil
	}
	var value strings.Builder
	for p.at < len(p.text) {
		switch {
		case p.take(`\"`):
			value.WriteByte('"')
		case p.take(`"`):
			return value.String(), nil
		default:
			value.WriteByte(p.text[p.at])
			p.at++
		}
	}
	return "", p.errorf(start, `end the value with "`, "this quote is not closed")
}

// abbreviation returns the option that a word starts with, such as min for minimum, or "".
func abbreviation(word string) string {
	names := optionNames()
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(word, name) }); i >= 0 {
		return names[i]
	}
	return ""
}
