package hooks

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// tell is the end of what a hook said, on one line, without the folders of the sandbox.
func (s *Sandbox) lastLines(said []byte) string {
	const enough = 4 << 10
	text := string(said[max(0, len(said)-enough):])
	text = strings.NewReplacer(s.home, "", s.dir+string(filepath.Separator), "").Replace(text)
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(visible(line)); line != "" {
			lines = append(lines, truncated(line))
		}
	}
	return strings.Join(lines[max(0, len(lines)-4):], " | ")
}

// shortened is a line of which a person reads all.
func truncated(line string) string {
	const most = 200
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return line
}

// colour is what makes a terminal show text in colours and the like.
var colour = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// visible is a text without what a terminal acts on: colours go, and other characters
// that cannot be printed have a sign in their place.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, colour.ReplaceAllString(text, ""))
}

// excerpt is a line of a text, and of a long one what is around a column.
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
