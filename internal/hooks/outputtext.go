package hooks

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// lastLines returns the end of a hook's output on one line, without the paths of the sandbox.
func (s *Sandbox) lastLines(output []byte) string {
	const maxBytes = 4 << 10
	text := string(output[max(0, len(output)-maxBytes):])
	text = strings.NewReplacer(s.home, "", s.dir+string(filepath.Separator), "").Replace(text)
	var lines []string
	for line := range strings.Lines(WithoutTracebacks(text)) {
		if line = strings.TrimSpace(visible(line)); line != "" {
			lines = append(lines, truncated(line))
		}
	}
	return strings.Join(lines[max(0, len(lines)-4):], " | ")
}

var (
	tracebackStart = lazyregexp.New(`^(Traceback \(most recent call last\):|\s+File ".*", line \d+)`)
	indented       = lazyregexp.New(`^(\s|$)`)
)

// WithoutTracebacks shortens each traceback of Python in an output to the error at its end.
func WithoutTracebacks(output string) string {
	var short strings.Builder
	inTraceback := false
	for line := range strings.Lines(output) {
		inTraceback = tracebackStart().MatchString(line) || inTraceback && indented().MatchString(line)
		if !inTraceback {
			short.WriteString(line)
		}
	}
	return short.String()
}

// truncated shortens a line to a readable length.
func truncated(line string) string {
	const maxLength = 200
	if runes := []rune(line); len(runes) > maxLength {
		return string(runes[:maxLength]) + "..."
	}
	return line
}

// colour matches terminal control sequences, such as colours.
var colour = lazyregexp.New("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// visible removes colours from a text and replaces other unprintable characters.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, colour().ReplaceAllString(text, ""))
}

// excerpt returns a line of a text. It shortens a long line to the part around the column.
func excerpt(text []byte, line, column int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	const before, maxLength = 20, 70
	runes := []rune(visible(strings.ReplaceAll(strings.TrimRight(lines[line-1], " \t\r"), "\t", `\t`)))
	start, end := 0, len(runes)
	if column-1 > maxLength-before {
		start = min(column-1-before, max(0, end-maxLength))
	}
	end = min(end, start+maxLength)
	part := strings.TrimSpace(string(runes[start:end]))
	if start > 0 {
		part = "..." + part
	}
	if end < len(runes) {
		part += "..."
	}
	return part
}
