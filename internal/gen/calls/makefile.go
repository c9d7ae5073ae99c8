package calls

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// makefile has the variables and rules of a Makefile and of those that it includes.
type makefile struct {
	*finder
	dir    string              // absolute, below Root
	files  []string            // those that were read, named as in inclusions
	values map[string][]string // by variable; several if a conditional selects one
	simple map[string][]string // by variable that is expanded when it is set: the variables in its value
	rules  [][]command         // the recipes
	texts  []command           // values of variables that are never part of a recipe
	used   map[string]bool     // variables that recipes expand
	seen   map[string]bool     // the files
}

// command is a text that make may pass to the shell, before its expansion.
type command struct {
	file string // relative to the root
	line int
	text string
	name string // of the variable with this value
}

// makefile adds the calls in the recipes of the Makefile in a folder.
func (f *finder) makefile(dir string) {
	if f.ran[dir] {
		return
	}
	f.ran[dir] = true
	m := &makefile{finder: f, dir: dir, values: map[string][]string{"MAKE": {"make"}},
		simple: map[string][]string{}, used: map[string]bool{}, seen: map[string]bool{}}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // the order of make
		if m.file(name) {
			break
		}
	}
	for _, rule := range m.rules {
		m.recipe(rule)
	}
	for _, c := range m.texts {
		m.text(c)
	}
}

// text adds the calls in the value of a variable that recipes do not run, or that they run
// only under a condition.
func (m *makefile) text(c command) {
	if m.used[c.name] && len(m.values[c.name]) < 2 || !slices.ContainsFunc(strings.Fields(c.text), argLike().MatchString) {
		return
	}
	if strings.Contains(c.text, "$(1)") || strings.Contains(c.text, "${1}") {
		if strings.Contains(m.expand(c.text, 0), program) { // operon does not follow $(eval)
			m.add(Call{File: c.file, Line: c.line, Dir: m.dir, Unclear: "the parameters of " + c.name})
		}
		return
	}
	m.recipe([]command{c})
}

// recipe adds the calls in the lines of a recipe. A shell runs each of them in the folder of
// the Makefile, also those of a variable that has several.
func (m *makefile) recipe(lines []command) {
	u := &unit{finder: m.finder}
	for _, c := range lines {
		for line := range strings.SplitSeq(m.expand(c.text, 0), "\n") {
			u.run(strings.TrimLeft(line, "@+- \t"), c.file, c.line, m.dir)
		}
	}
}

var (
	assignment  = lazyregexp.New(`^(?:[^:=#\s][^:=#]*:\s*)?(?:(?:export|override|private)\s+)*([\w.-]+)\s*(\?|\+|!|:{1,3})?=\s*(.*)$`)
	definition  = lazyregexp.New(`^(?:override\s+)?define\s+([\w.-]+)`)
	conditional = lazyregexp.New(`^\s*if(?:n?eq|n?def)\b`)
	inclusion   = lazyregexp.New(`^[-s]?include\s+(.+)$`)
)

// file parses a Makefile, whose name is as in an inclusion. It returns false if the file cannot be read.
func (m *makefile) file(listed string) bool {
	name := m.abs(listed)
	content, ok := m.read(name)
	if !ok || m.seen[name] {
		return false
	}
	m.seen[name] = true
	m.files = append(m.files, listed)
	lines := strings.Split(content, "\n")
	nested := 0         // conditionals around the line
	var define *command // around the line
	for i := 0; i < len(lines); i++ {
		c := command{file: rel(name), line: i + 1, text: lines[i]}
		for strings.HasSuffix(c.text, `\`) && i+1 < len(lines) {
			i++
			c.text = strings.TrimSuffix(c.text, `\`) + " " + strings.TrimSpace(lines[i])
		}
		m.pinned(c)
		word, _, _ := strings.Cut(strings.TrimSpace(c.text), " ")
		switch {
		case define != nil && word == "endef":
			m.assign(*define, "=", nested > 0)
			define = nil
		case define != nil:
			define.text += strings.TrimLeft(c.text, "@+- \t") + "\n"
		case strings.HasPrefix(c.text, "\t"):
			m.addToRule(c)
		case conditional().MatchString(c.text):
			nested++
		case word == "endif":
			nested--
		default:
			if d := definition().FindStringSubmatch(c.text); d != nil {
				define = &command{file: c.file, line: c.line, name: d[1]}
				break
			}
			m.line(c, nested > 0)
		}
	}
	return true
}

func (m *makefile) addToRule(c command) {
	if len(m.rules) == 0 {
		m.rules = append(m.rules, nil)
	}
	last := len(m.rules) - 1
	m.rules[last] = append(m.rules[last], c)
}

// line parses an assignment, an inclusion, or the first line of a rule, which may have a
// command after a semicolon. It ignores other lines.
func (m *makefile) line(c command, conditional bool) {
	text, _, _ := strings.Cut(strings.TrimSpace(c.text), " #")
	if i := inclusion().FindStringSubmatch(text); i != nil {
		for pattern := range strings.FieldsSeq(m.expand(i[1], 0)) {
			for _, name := range m.glob(pattern) {
				m.file(name)
			}
		}
		return
	}
	if a := assignment().FindStringSubmatch(text); a != nil {
		c.name, c.text = a[1], a[3]
		ofTarget := !strings.HasPrefix(text, a[1]) && strings.Contains(text, ":")
		m.assign(c, a[2]+"=", conditional || ofTarget)
	} else if _, _, isRule := strings.Cut(text, ":"); isRule {
		m.rules = append(m.rules, nil)
		if _, recipe, ok := strings.Cut(c.text, ";"); ok {
			c.text = recipe
			m.addToRule(c)
		}
	}
}

// assign records an assignment.
func (m *makefile) assign(c command, operator string, conditional bool) {
	m.texts = append(m.texts, c)
	m.set(c.name, c.text, operator, conditional)
}

// set sets a variable. A conditional assignment may or may not apply.
func (m *makefile) set(name, value, operator string, conditional bool) {
	known := m.values[name]
	if operator == "?=" && len(known) > 0 && !conditional {
		return
	}
	switch simple := m.simple[name] != nil; {
	case operator == "!=":
		value = m.compute("$(" + name + "), which a command sets")
	case strings.HasPrefix(operator, ":"), operator == "+=" && simple:
		var within []string
		if value, within = m.now(value); len(value) > maxValue {
			value = m.compute("$(" + name + "), which is too long")
		}
		m.simple[name] = append(within, m.simple[name]...)
	default:
		delete(m.simple, name)
	}
	if operator == "+=" && len(known) == 1 {
		m.values[name] = []string{known[0] + " " + value}
		if conditional {
			m.values[name] = append(m.values[name], known[0])
		}
		return
	}
	if !conditional {
		known = nil
	}
	if !slices.Contains(known, value) {
		known = append(known, value)
	}
	m.values[name] = known
}

// maxValue is the length of values up to which operon follows a Makefile that doubles them again and again.
const maxValue = limit * limit

// now returns the value of a variable that make expands when it is set, and the variables in it.
func (m *makefile) now(text string) (value string, within []string) {
	used := m.used
	m.used = map[string]bool{}
	defer func() { m.used = used }()
	value = fixed(m.expand(text, 0))
	return value, slices.AppendSeq([]string{}, maps.Keys(m.used)) // not nil
}

// use records that a recipe expands a variable.
func (m *makefile) use(name string) {
	if m.used[name] {
		return
	}
	m.used[name] = true
	for _, inner := range m.simple[name] {
		m.use(inner)
	}
}
