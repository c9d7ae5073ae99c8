package schema

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// uses are the values that templates mention, by their paths. Templates are searched, not
// evaluated: what they reach through variables and includes is not there.
type uses map[string]use

type use struct {
	path  []string
	file  string // the first template that mentions the value
	line  int
	whole bool // a template passes the value on, in addition to comparing it
}

var (
	reference  = lazyregexp.New(`\.Values((?:\.[A-Za-z_][A-Za-z0-9_]*)+)`)
	definition = lazyregexp.New(`\{\{-?\s*define\s+("[^"]+")`) // with its name in quotes
	condition  = lazyregexp.New(`^-?\s*(?:else\s+)?if\s`)
)

// usesIn returns the values that the templates of a chart mention, and the named templates that it can include: templates
// of libraries, and templates of other dependencies if it mentions their names. A named template runs with the values of
// the chart that includes it.
func usesIn(c Chart) uses {
	all := uses{}
	if c.Library {
		return all
	}
	all.add(c.Folder, c.Templates)
	var borrow func(dependencies map[string]Chart)
	borrow = func(dependencies map[string]Chart) {
		for _, key := range slices.Sorted(maps.Keys(dependencies)) {
			d := dependencies[key]
			included := maps.Clone(d.Templates)
			maps.DeleteFunc(included, func(_ string, text []byte) bool { return !d.Library && !c.includes(text) })
			all.add(d.Folder, included)
			if d.Library {
				borrow(d.Dependencies)
			}
		}
	}
	borrow(c.Dependencies)
	return all
}

// includes reports whether a template of the chart names a template that a text defines.
func (c Chart) includes(text []byte) bool {
	for _, m := range definition().FindAllSubmatch(text, -1) {
		for _, own := range c.Templates {
			if bytes.Contains(own, m[1]) {
				return true
			}
		}
	}
	return false
}

// add adds the values that templates in a folder mention.
func (u uses) add(folder string, templates map[string][]byte) {
	for _, file := range slices.Sorted(maps.Keys(templates)) {
		content := templates[file]
		for _, m := range reference().FindAllSubmatchIndex(content, -1) {
			name := string(content[m[2]+1 : m[3]])
			action := content[bytes.LastIndex(content[:m[0]], []byte("{{"))+1:]
			action = bytes.TrimPrefix(action, []byte("{"))
			one, exists := u[name]
			if !exists {
				one = use{path: strings.Split(name, "."), file: path.Join(folder, file), line: 1 + bytes.Count(content[:m[0]], []byte("\n"))}
			}
			one.whole = one.whole || !condition().Match(action)
			u[name] = one
		}
	}
}

// whole reports whether a template passes on the value at a path.
func (u uses) whole(path []string) bool { return len(path) > 0 && u[strings.Join(path, ".")].whole }

// addMentioned adds the values that only templates mention, if the schema would not accept them.
func (s *source) addMentioned(spec crdschema.Schema) {
	for _, name := range slices.Sorted(maps.Keys(s.uses)) {
		u, inner := s.uses[name], spec
		for i, key := range u.path {
			p, exists := property(inner, key)
			if exists {
				inner = p
				continue
			}
			if inner["type"] == "object" && !isOpen(inner) && inner["additionalProperties"] == nil && !s.closed[strings.Join(u.path[:i], ".")] {
				setProperty(inner, key, anything())
				s.found(RuleOpen, u.file, u.line, 0, "%s: only templates mention it, so it accepts any value", strings.Join(u.path[:i+1], "."))
			}
			break
		}
	}
}
