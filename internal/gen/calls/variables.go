package calls

import (
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// variables are the variables of a file.
type variables struct {
	*finder
	reference func() *regexp.Regexp // matches references, with the name in a group unless something is computed
	values    map[string]string
	uncertain map[string]bool // they are set several times, under a condition, or to what is computed
}

func (f *finder) newVariables(reference func() *regexp.Regexp) *variables {
	return &variables{finder: f, reference: reference, values: map[string]string{}, uncertain: map[string]bool{}}
}

// set sets a variable.
func (v *variables) set(name, text string, certain bool) {
	was, twice := v.values[name]
	v.values[name], v.uncertain[name] = text, v.uncertain[name] || !certain || twice && was != text
}

// value returns the text for a reference: also for controller-gen itself, wherever it is.
func (v *variables) value(reference string) string {
	name := strings.Join(v.reference().FindStringSubmatch(reference)[1:], "")
	text, set := v.values[name]
	switch {
	case reference == "$$" || strings.HasPrefix(name, unknownName):
		return reference
	case (programName().MatchString(name) || strings.Contains(text, program)) && !hasArgument(text):
		return program
	case name == "CURDIR" || name == "PWD" || name == "ROOT_DIR": // of make and of task
		return Root
	case !set || v.uncertain[name]:
		return "${" + v.unknown(reference) + "}"
	}
	return text
}

// expand replaces the references in a text, and those in the values. It stops where the text becomes too long, because values
// can multiply each other.
func (v *variables) expand(text string) string {
	const depth, longest = 20, 64 << 10
	for range depth {
		size := len(text)
		next := v.reference().ReplaceAllStringFunc(text, func(reference string) string {
			if size > longest {
				return reference
			}
			value := v.value(reference)
			size += len(value)
			return value
		})
		if next == text || size > longest {
			break
		}
		text = next
	}
	return text
}

// names reports whether a text names controller-gen itself, and not a variable with a whole call.
func (v *variables) names(text string) bool {
	if strings.Contains(text, program) || hasArgument(text) && strings.Contains(v.expand(text), program) {
		return true
	}
	for _, reference := range v.reference().FindAllString(text, -1) {
		if v.value(reference) == program {
			return true
		}
	}
	return false
}

// makefile is what is read of the Makefile and of the files that it includes.
type makefile struct {
	*variables
	lines []command
	parts bool // it includes files by patterns or computed names
}

var (
	makeReference = lazyregexp.New(`\$\$|\$\(([\w.-]+)\)|\$\{([\w.-]+)\}|\$[^\w$({]`)
	makeVariable  = lazyregexp.New(`^([^:=#\s][^:=#]*:\s*)?(?:(?:export|override)\s+)*([\w.-]+)\s*(\?|\+|!|:{1,3})?=\s*(.*)$`)
	makeDefine    = lazyregexp.New(`^\s*(?:override\s+)?define\s+([\w.-]+)`)
	makeCondition = lazyregexp.New(`^\s*if(?:n?eq|n?def)\b`)
	makeChange    = lazyregexp.New(`^\t+([\w.-]+)(?:\s*[:?+]=|\s+=)|\$[({]eval ([\w.-]+)`) // by $(eval), or with a tab
	makeInclude   = lazyregexp.New(`^[-s]?include\s+(.+)$`)
	// makeOptional matches an option that depends on a file, such as the header in the Makefile of operon.
	makeOptional = lazyregexp.New(`\$\(if \$\(wildcard ([\w./-]+)\),([^$(){},]*)\)`)
)

// makefiles adds the calls in the Makefile, and in the files that it includes. If it includes files by patterns or by
// computed names, these may be all files *.mk.
func (f *finder) makefiles() {
	m := &makefile{variables: f.newVariables(makeReference)}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // the order of make
		if m.file(name) {
			break
		}
	}
	if m.parts {
		names, _ := f.project.Containing(".mk", "") // an error means that there is less to read
		for _, name := range names {
			m.file(name)
		}
	}
	for _, c := range m.lines {
		c.text = makeOptional().ReplaceAllStringFunc(c.text, func(text string) string {
			o := makeOptional().FindStringSubmatch(text)
			if _, err := f.project.Read(o[1]); err != nil {
				return ""
			}
			return o[2]
		})
		if m.names(c.text) {
			c.text = strings.ReplaceAll(strings.TrimLeft(m.expand(c.text), "@+- \t"), "$$", "$")
			f.run(c, Root, nil)
		}
	}
}

// file reads a Makefile: its commands are the lines of recipes, and the values of variables. It returns false if
// there is none.
func (m *makefile) file(name string) bool {
	lines, ok := m.open(name)
	conditions := 0 // around the line
	for _, c := range lines {
		text, _, _ := strings.Cut(strings.TrimLeft(c.text, " "), " #")
		for _, changed := range makeChange().FindAllStringSubmatch(c.text, -1) {
			m.set(changed[1]+changed[2], "", false)
		}
		a, define := makeVariable().FindStringSubmatch(text), makeDefine().FindStringSubmatch(text)
		include := makeInclude().FindStringSubmatch(text)
		switch {
		case strings.HasPrefix(c.text, "\t"):
		case makeCondition().MatchString(text):
			conditions++
		case strings.TrimSpace(text) == "endif":
			conditions--
		case define != nil:
			m.set(define[1], "", false)
		case include != nil:
			for part := range strings.FieldsSeq(m.expand(include[1])) {
				m.parts = m.parts || !m.file(part) && strings.ContainsAny(part, "*?[$")
			}
		case a != nil:
			if _, set := m.values[a[2]]; set && a[3] == "?" {
				continue
			}
			c.text = a[4]
			if strings.HasPrefix(a[3], ":") {
				a[4] = m.expand(a[4]) // now
			}
			m.set(a[2], a[4], conditions == 0 && a[1] == "" && a[3] != "+" && a[3] != "!")
		default:
			if _, recipe, ok := strings.Cut(c.text, ";"); ok && strings.Contains(text, ":") {
				c.text = recipe
			}
		}
		m.lines = append(m.lines, c)
	}
	return ok
}
