package calls

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

var (
	justAssignment = lazyregexp.New(`^(?:export\s+)?([\w-]+)\s*:=\s*(.*)$`)
	justRecipe     = lazyregexp.New(`^@?[\w-]+[^:=]*:`)
	justText       = lazyregexp.New(`^(?:"([^"\\]*)"|'([^']*)')$`)
)

// justfile adds the calls in the recipes of a justfile. A recipe that starts with #! is a
// script; otherwise each line runs in a shell of its own.
func (f *finder) justfile() {
	for _, name := range []string{"justfile", "Justfile", ".justfile"} {
		text, ok := f.read(path.Join(Root, name))
		if !ok {
			continue
		}
		values := map[string]string{}
		value := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
		u := &unit{finder: f}
		lines := strings.Split(text, "\n")
		for i := 0; i < len(lines); i++ {
			line, at := lines[i], i+1
			f.pinned(command{file: name, line: at, text: line})
			for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
				i++
				line = strings.TrimSuffix(line, `\`) + " " + strings.TrimSpace(lines[i])
			}
			switch {
			case strings.TrimSpace(line) == "" || line[0] == '#':
			case line[0] == ' ' || line[0] == '\t':
				command := strings.TrimLeft(line, "@- \t")
				if strings.HasPrefix(command, "#!") {
					continue
				}
				u.run(f.interpolate(command, value), name, at, Root)
			case justAssignment().MatchString(line):
				m := justAssignment().FindStringSubmatch(line)
				if t := justText().FindStringSubmatch(m[2]); t != nil {
					values[m[1]] = t[1] + t[2]
				}
			case justRecipe().MatchString(line):
				u = &unit{finder: f}
			}
		}
		return
	}
}
