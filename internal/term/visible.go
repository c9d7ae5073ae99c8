package term

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden has the characters that change the order of others, and line separators that few programs show.
// https://unicode.org/reports/tr9/#Directional_Formatting_Characters
var hidden = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x061C, Hi: 0x061C, Stride: 1},
	{Lo: 0x200E, Hi: 0x200F, Stride: 1},
	{Lo: 0x2028, Hi: 0x202E, Stride: 1},
	{Lo: 0x2066, Hi: 0x2069, Stride: 1},
	{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1},
}}

// The colours that operon prints (ECMA-48, select graphic rendition).
const (
	Plain  = "\x1b[0m"
	Faint  = "\x1b[2m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
)

var colours = []string{Plain, Faint, Red, Green, Yellow}

// labels start the messages of operon.
var labels = []string{"error:", "hint:", "warning:", "note:", "next:"}

// Visible returns a text in which control characters, bidirectional characters and bytes that are not UTF-8 are visible,
// as Go writes them in strings. Line breaks and tabs stay, and operon's own colours if coloured is true.
func Visible(text string, coloured bool) string {
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		starts := func(code string) bool { return strings.HasPrefix(text[i:], code) }
		if n := slices.IndexFunc(colours, starts); coloured && n >= 0 {
			out.WriteString(colours[n])
			i += len(colours[n])
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case starts("\r\n") || coloured && starts("\r"+Plain+"\n"):
			out.WriteByte('\r')
		case acts(r):
			quoted := strconv.Quote(text[i : i+size])
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteString(text[i : i+size])
		}
		i += size
	}
	return out.String()
}

// acts reports whether a character can do more than appear.
func acts(r rune) bool {
	return r != '\n' && r != '\t' && (r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(hidden, r))
}

// Line is Visible for a text of one line.
func Line(text string, coloured bool) string {
	return Visible(strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text), coloured)
}

// Indent indents the lines of a text, except for the first one, that look like another message of operon.
func Indent(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		line = strings.TrimLeft(line, "\r")
		for _, code := range colours {
			line = strings.TrimPrefix(line, code)
		}
		if slices.ContainsFunc(labels, func(label string) bool { return strings.HasPrefix(line, label) }) {
			lines[i+1] = "\t" + lines[i+1]
		}
	}
	return strings.Join(lines, "\n")
}
