package rbac

import (
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// kindLine is a line with the kind of an object.
type kindLine struct {
	line       int
	value      string // the text after the colon
	definition string // the named template around it, or ""
}

var (
	templateComment = lazyregexp.New(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	kindAt          = lazyregexp.New(`^((?: |- )*)kind:[ \t]*(.*?)[ \t\r]*$`)
	definition      = lazyregexp.New(`\{\{-?\s*define\s+"([^"]+)"`)
)

// kindLines returns the lines of a template that have the kinds of objects. It tells those from
// other kinds, such as a roleRef's, by their indentation.
func kindLines(text string) []kindLine {
	text = templateComment().ReplaceAllStringFunc(text, func(comment string) string {
		return strings.Repeat("\n", strings.Count(comment, "\n"))
	})
	lines := strings.Split(text, "\n")
	var all []kindLine
	inside := ""
	for i, line := range lines {
		if m := definition().FindStringSubmatch(line); m != nil {
			inside = m[1]
		}
		m := kindAt().FindStringSubmatch(line)
		if m == nil || !isObject(lines, i, len(m[1])) {
			continue
		}
		value, _, _ := strings.Cut(m[2], " #")
		all = append(all, kindLine{i + 1, strings.Trim(strings.TrimSpace(value), `"'`), inside})
	}
	return all
}

// isObject reports whether a line with a kind is one of a whole object.
func isObject(lines []string, at, indent int) bool {
	if indent == 0 {
		return true
	}
	hasMetadata := false
	for _, line := range lines[at+1 : min(at+8, len(lines))] {
		hasMetadata = hasMetadata || strings.HasPrefix(line, strings.Repeat(" ", indent)+"metadata:")
	}
	if !hasMetadata {
		return false
	}
	for i := at - 1; i >= 0; i-- {
		trimmed := strings.TrimLeft(lines[i], " ")
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "{{") || strings.HasPrefix(trimmed, "#"):
		case strings.HasPrefix(trimmed, "---"):
			return true
		case len(lines[i])-len(strings.TrimLeft(lines[i], " -")) < indent:
			return strings.TrimSpace(lines[i]) == "items:"
		}
	}
	return true
}
