package hooks

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// lastLines returns the end of a hook's output on one line, without the sandbox folders.
func (s *Sandbox) lastLines(output []byte) string {
	const enough = 4 << 10
	text := string(output[max(0, len(output)-enough):])
	text = strings.NewReplacer(s.home, "", s.dir+string(filepath.Separator), "").Replace(text)
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(visible(line)); line != "" {
			lines = append(lines, truncated(line))
		}
	}
	return strings.Join(lines[max(0, len(lines)-4):], " | ")
}

// truncated limits a line to a readable length.
func truncated(line string) string {
	const most = 200
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
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

// excerpt returns a line of a text. It shortens a long line to the part around a column.
func excerpt(text []byte, line, column int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	const before, most = 20, 70
	runes := []rune(visible(strings.ReplaceAll(strings.TrimRight(lines[line-1], " \t\r"), "\t", `\t`)))
	start, end := 0, len(runes)
	if column-1 > most-before {
		start = min(column-1-before, max(0, end-most))
	}
	end = min(end, start+most)
	cut := strings.TrimSpace(string(runes[start:end]))
	if start > 0 {
		cut = "..." + cut
	}
	if end < len(runes) {
		cut += "..."
	}
	return cut
}
