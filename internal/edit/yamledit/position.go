package yamledit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// lineStarts splits lines as in YAML 1.1, whose line breaks are LF, CR LF, CR,
// NEL, LS and PS.
func lineStarts(src []byte) []int {
	starts := []int{0}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		i += size
		switch r {
		case '\r':
			if i < len(src) && src[i] == '\n' {
				i++
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		starts = append(starts, i)
	}
	return starts
}

// line returns the index in d.lines of the line that contains offset at.
func (d *yamlDoc) line(at int) int {
	low, high := 0, len(d.lines)-1
	for low < high {
		if mid := (low + high + 1) / 2; d.lines[mid] <= at {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// lineStart returns the offset of the start of the line that contains at.
func (d *yamlDoc) lineStart(at int) int { return d.lines[d.line(at)] }

// nextLine returns the offset of the line after the one that contains at, or
// the end of the document.
func (d *yamlDoc) nextLine(at int) int {
	if l := d.line(at) + 1; l < len(d.lines) {
		return d.lines[l]
	}
	return len(d.src)
}

// lineText returns the line that contains offset at, without its line break.
func (d *yamlDoc) lineText(at int) string {
	return strings.TrimRight(string(d.src[d.lineStart(at):d.nextLine(at)]), "\r\n\u0085\u2028\u2029")
}

// start returns the offset of n, including its properties (anchor, tag).
func (d *yamlDoc) start(n *yaml.Node) int { return d.offset(n.Line, n.Column) }

// offset converts the position of a node. Lines and columns start at 1, columns
// count characters, and a byte order mark has no column.
func (d *yamlDoc) offset(line, column int) int {
	if line < 1 || line > len(d.lines) {
		return len(d.src)
	}
	at := d.lines[line-1]
	if line == 1 && bytes.HasPrefix(d.src, []byte("\ufeff")) {
		at += len("\ufeff")
	}
	for i := 1; i < column && at < len(d.src); i++ {
		_, size := utf8.DecodeRune(d.src[at:])
		at += size
	}
	return at
}
