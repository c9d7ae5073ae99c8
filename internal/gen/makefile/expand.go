package makefile

import (
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// unknown replaces what only make can compute. To the shell, it is an expansion as well.
const unknown = "${operon_unknown}"

// program replaces a variable that names controller-gen in a way that only make can compute.
const program = "controller-gen"

// maxDepth limits variables that refer to others.
const maxDepth = 20

// expand replaces the references to variables and the functions in a text.
func (p *parser) expand(text string, depth int) string {
	if depth > maxDepth {
		return unknown
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found || rest == "" {
			return out.String()
		}
		switch rest[0] {
		case '$':
			out.WriteByte('$')
			text = rest[1:]
		case '(', '{':
			end := closing(rest)
			if end < 0 {
				return out.String() + unknown
			}
			out.WriteString(p.reference(rest[1:end], depth+1))
			text = rest[end+1:]
		default: // an automatic variable, such as $@
			out.WriteString(unknown)
			text = rest[1:]
		}
	}
}

// closing returns the index of the bracket that closes the first one, or -1.
func closing(text string) int {
	opens, closes := text[0], byte(')')
	if opens == '{' {
		closes = '}'
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// reference returns the value of what is between the brackets of a reference.
func (p *parser) reference(text string, depth int) string {
	name, rest, isFunction := strings.Cut(text, " ")
	if !isFunction {
		return p.variable(p.expand(text, depth), depth)
	}
	args := splitArgs(strings.TrimSpace(rest))
	switch name {
	case "if":
		args = append(args, "", "")
		if strings.TrimSpace(p.expand(args[0], depth)) != "" {
			return p.expand(args[1], depth)
		}
		return p.expand(args[2], depth)
	case "wildcard":
		file := strings.TrimSpace(p.expand(rest, depth))
		if strings.ContainsAny(file, "*?[$") {
			return unknown
		}
		if _, err := p.read(file); err != nil {
			return ""
		}
		return file
	case "strip":
		return strings.TrimSpace(p.expand(rest, depth))
	case "call":
		return p.call(args, depth)
	case "shell":
		if strings.TrimSpace(rest) == "pwd" {
			return "."
		}
	}
	return unknown
}

// call returns the value of a variable with the parameters $(1), $(2) and so on.
func (p *parser) call(args []string, depth int) string {
	values := p.values[strings.TrimSpace(args[0])]
	if len(values) != 1 {
		return unknown
	}
	inner := parser{read: p.read, values: map[string][]string{}}
	maps.Copy(inner.values, p.values)
	for i, arg := range args[1:] {
		inner.values[string(rune('1'+i))] = []string{strings.ReplaceAll(p.expand(arg, depth), "$", "$$")}
	}
	return inner.expand(values[0], depth)
}

// programName matches the names of variables for controller-gen itself.
var programName = lazyregexp.New(`(?i)controller_?gen(_(bin|binary|cmd|path|tool))?$`)

// variable returns the value of a variable. One that is not defined is empty, unless the
// environment has it.
func (p *parser) variable(name string, depth int) string {
	switch {
	case name == "CURDIR" || name == "PWD":
		return "."
	case strings.Contains(name, unknown) || strings.Contains(name, ":"): // $(NAME:a=b) replaces in each word
		return unknown
	}
	values := p.values[name]
	value := unknown
	switch len(values) {
	case 0:
		value = ""
	case 1:
		value = p.expand(values[0], depth)
	}
	if strings.Contains(value, unknown) && (programName().MatchString(name) || strings.Contains(strings.Join(values, " "), program)) {
		return program
	}
	return value
}

// splitArgs splits the arguments of a function at commas outside of references.
func splitArgs(text string) []string {
	var args []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, text[start:i])
				start = i + 1
			}
		}
	}
	return append(args, text[start:])
}
