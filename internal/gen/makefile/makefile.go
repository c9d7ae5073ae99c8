// Package makefile finds the calls of controller-gen in a Makefile, without running make.
// It knows what Makefiles of operators use for such calls: variables, conditionals,
// included files, a few functions, and the syntax of the shell.
//
// No library does this: those that parse Makefiles neither expand variables nor read
// recipes.
package makefile

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// Call is a call of controller-gen.
type Call struct {
	File string // of the line, relative to the root
	Line int    // from 1
	// Args are generators, paths and output rules, without a year that the Makefile takes
	// from the clock. They are nil if make or the shell computes some of them.
	Args []string
}

// Reader returns the content of a file of the project.
type Reader func(name string) ([]byte, error)

// Calls returns the calls in the project's Makefile, without duplicates.
func Calls(read Reader) []Call {
	p := parser{read: read, values: map[string][]string{}, seen: map[string]bool{}}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // the order of make
		if p.file(name) {
			break
		}
	}
	var calls []Call
	for _, c := range p.commands {
		calls = addCalls(calls, c, p.expand(c.text, 0))
	}
	return calls
}

// parser collects the variables and commands of a Makefile and of those that it includes.
type parser struct {
	read     Reader
	values   map[string][]string // by variable; several if a conditional selects one
	commands []command           // lines of recipes, and values of variables
	seen     map[string]bool     // the files
}

// command is text that make may pass to the shell, before its expansion.
type command struct {
	file string
	line int
	text string
}

var (
	assignment  = lazyregexp.New(`^(?:[^:=#\s][^:=#]*:\s*)?(?:(?:export|override|private)\s+)*([\w.-]+)\s*(\?|\+|!|:{1,3})?=\s*(.*)$`)
	definition  = lazyregexp.New(`^(?:override\s+)?define\s+([\w.-]+)`)
	conditional = lazyregexp.New(`^\s*if(?:n?eq|n?def)\b`)
	inclusion   = lazyregexp.New(`^[-s]?include\s+(.+)$`)
)

// file parses a Makefile. It returns false if the file cannot be read.
func (p *parser) file(name string) bool {
	content, err := p.read(name)
	if err != nil || p.seen[name] {
		return false
	}
	p.seen[name] = true
	lines := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	nested := 0         // conditionals around the line
	variable := ""      // that a define around the line sets
	var define []string // its lines
	for i := 0; i < len(lines); i++ {
		c := command{name, i + 1, lines[i]}
		for strings.HasSuffix(c.text, `\`) && i+1 < len(lines) {
			i++
			c.text = strings.TrimSuffix(c.text, `\`) + " " + strings.TrimSpace(lines[i])
		}
		word, _, _ := strings.Cut(strings.TrimSpace(c.text), " ")
		switch {
		case variable != "":
			if word == "endef" {
				p.set(variable, "=", strings.Join(define, "\n"), nested > 0)
				variable = ""
				break
			}
			define = append(define, c.text)
			p.commands = append(p.commands, c)
		case strings.HasPrefix(c.text, "\t"):
			p.commands = append(p.commands, c)
		case conditional().MatchString(c.text):
			nested++
		case word == "endif":
			nested--
		default:
			if m := definition().FindStringSubmatch(c.text); m != nil {
				variable, define = m[1], nil
				break
			}
			p.line(c, nested > 0)
		}
	}
	return true
}

// line parses an assignment, an inclusion, or a rule with its recipe after a semicolon. It
// ignores other lines.
func (p *parser) line(c command, conditional bool) {
	text, _, _ := strings.Cut(strings.TrimSpace(c.text), " #")
	if m := inclusion().FindStringSubmatch(text); m != nil {
		for name := range strings.FieldsSeq(p.expand(m[1], 0)) {
			p.file(path.Clean(name))
		}
		return
	}
	if m := assignment().FindStringSubmatch(text); m != nil {
		c.text = m[3]
		p.commands = append(p.commands, c)
		p.set(m[1], m[2]+"=", m[3], conditional || !strings.HasPrefix(text, m[1]) && strings.Contains(text, ":"))
	} else if _, recipe, ok := strings.Cut(c.text, ";"); ok {
		c.text = recipe
		p.commands = append(p.commands, c)
	}
}

// set records an assignment. A conditional one may or may not apply.
func (p *parser) set(name, operator, value string, conditional bool) {
	known := p.values[name]
	switch {
	case operator == "!=":
		value = unknown
	case operator == "+=" && len(known) == 1:
		p.values[name] = []string{known[0] + " " + value}
		if conditional {
			p.values[name] = append(p.values[name], known[0])
		}
		return
	case operator == "?=" && len(known) > 0 && !conditional:
		return
	}
	if !conditional {
		known = nil
	}
	p.values[name] = append(known, value)
}
