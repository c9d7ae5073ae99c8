package source

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
)

// UnwiredHint is the start of a hint with lines that operon cannot add. They name packages that do not
// exist before the command has run.
const UnwiredHint = "repeat the command with --wire=false, which creates the files, and add these lines by hand where they belong:\n"

// WarnUnwired warns about lines that a command does not add to a file, because the user asked for that.
func WarnUnwired(file, lines string, p *scaffold.Plan) {
	p.Warn(scaffold.Warning{File: file, Rule: "not-wired", Message: "this file is not edited; add these lines where they belong", Lines: lines})
}

// MissingLines returns the lines that add would add to a file, or "" if it fails.
func MissingLines(s File, avoid map[string]bool, add func(*goedit.File) error) string {
	f, err := goedit.Parse(s.Name, s.Src)
	if err != nil {
		return ""
	}
	f.Avoid(avoid)
	if err := add(f); err != nil {
		_, lines, _ := strings.Cut(fault.HintOf(err), "\n")
		return dedent(strings.Split(lines, "\n"))
	}
	next, err := f.Bytes()
	if err != nil {
		return ""
	}
	// An edit adds only whole lines.
	old, imports, added := strings.Split(string(s.Src), "\n"), "", []string{}
	for line := range strings.SplitSeq(string(next), "\n") {
		spec := importSpec().FindStringSubmatch(line)
		switch {
		case len(old) > 0 && line == old[0]:
			old = old[1:]
		case spec != nil:
			imports += "import " + spec[1] + "\n"
		default:
			added = append(added, strings.TrimSuffix(line, "\r"))
		}
	}
	return strings.TrimSuffix(imports+dedent(added), "\n")
}

// importSpec matches the line of an import.
var importSpec = lazyregexp.New(`^\t((?:[\w.]+ )?"[^"]+")\r?$`)

// dedent joins the non-empty lines without their common indentation.
func dedent(lines []string) string {
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	for len(lines) > 0 && !slices.ContainsFunc(lines, func(line string) bool { return line[0] != '\t' }) {
		for i := range lines {
			lines[i] = lines[i][1:]
		}
	}
	return strings.Join(lines, "\n")
}
