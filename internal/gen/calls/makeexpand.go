package calls

import (
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// program replaces a variable that names controller-gen in a way that only make can compute.
const program = "controller-gen"

// maxDepth limits variables that refer to others.
const maxDepth = 20

// compute returns the text for a value that only make or the shell knows.
func (m *makefile) compute(what string) string { return "${" + m.unknown(what) + "}" }

// isUnknown reports whether a text has a part that only make or the shell knows.
func isUnknown(text string) bool { return strings.Contains(text, unknownName) }

// expand replaces the references to variables and the functions in a text.
func (m *makefile) expand(text string, depth int) string {
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
			if end < 0 || depth > maxDepth {
				return out.String() + m.compute("$"+rest)
			}
			if isUnknown(rest[1:end]) && rest[0] == '{' {
				out.WriteString("$" + rest[:end+1])
			} else {
				out.WriteString(m.reference(rest[1:end], depth+1))
			}
			text = rest[end+1:]
		default: // an automatic variable, such as $@
			out.WriteString(m.compute("$" + rest[:1]))
			text = rest[1:]
		}
	}
}

// fixed returns a value that expands to a text.
func fixed(text string) string {
	const unknown = "$$" + "{" + unknownName
	return strings.ReplaceAll(strings.ReplaceAll(text, "$", "$$"), unknown, unknown[1:])
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
func (m *makefile) reference(text string, depth int) string {
	name, rest, isFunction := strings.Cut(text, " ")
	if !isFunction {
		if strings.Contains(name, ":") && strings.Contains(name, "=") {
			return m.substitution(name, depth)
		}
		return m.variable(m.expand(text, depth), depth)
	}
	args := splitArgs(strings.TrimLeft(rest, " \t"))
	switch name {
	case "if":
		args = append(args, "", "")
		condition := strings.TrimSpace(m.expand(args[0], depth))
		switch {
		case isUnknown(condition):
			return m.compute("$(" + text + ")")
		case condition != "":
			return m.expand(args[1], depth)
		}
		return m.expand(args[2], depth)
	case "or", "and":
		return m.choose(name == "or", text, args, depth)
	case "eval":
		if a := assignment().FindStringSubmatch(strings.TrimSpace(rest)); a != nil {
			m.set(a[1], a[3], a[2]+"=", false)
			return ""
		}
	case "call":
		return m.call(args, depth)
	case "foreach":
		return m.foreach(args, depth)
	}
	for i := range args {
		args[i] = m.expand(args[i], depth)
	}
	if value, ok := m.function(name, args); ok {
		return value
	}
	return m.compute("$(" + text + ")")
}

// choose returns the value of $(or ...), the first argument that is not empty, or of $(and ...), the last one
// unless one is empty.
func (m *makefile) choose(first bool, text string, args []string, depth int) string {
	value := ""
	for _, arg := range args {
		value = strings.TrimSpace(m.expand(arg, depth))
		if isUnknown(value) {
			return m.compute("$(" + text + ")")
		}
		if (value != "") == first {
			return value
		}
	}
	return value
}

// programName matches the names of variables for controller-gen itself.
var programName = lazyregexp.New(`(?i)controller[-_]?gen(_(bin|binary|cmd|path|tool))?$`)

// variable returns the value of a variable. One that is not defined is empty, unless the
// environment has it.
func (m *makefile) variable(name string, depth int) string {
	switch {
	case name == "CURDIR" || name == "PWD":
		return m.dir
	case name == "MAKEFILE_LIST":
		return strings.Join(m.files, " ")
	case isUnknown(name):
		return m.compute("$(" + name + ")")
	}
	m.use(name)
	values := m.values[name]
	value := ""
	switch {
	case len(values) == 1:
		value = m.expand(values[0], depth)
	case len(values) > 1:
		value = m.compute("$(" + name + "), which has several values")
	}
	if len(values) == 0 && programName().MatchString(name) { // $(eval) may set it
		return program
	}
	if isUnknown(value) && (programName().MatchString(name) || strings.Contains(strings.Join(values, " "), program)) {
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
