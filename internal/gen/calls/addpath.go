package calls

import (
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// pathsLine matches a line of a call over several lines with only paths, up to the backslash.
var pathsLine = lazyregexp.New(`^([ \t]*)paths=\S+[ \t]*\\\r?\n$`)

// AddPath returns a file with a further path in the call of controller-gen that starts at a line, from 1. ok is
// false if the call has no line for each path: then a line of the user would have to change.
func AddPath(src []byte, line int, path string) (next []byte, ok bool) {
	lines := strings.SplitAfter(string(src), "\n")
	after, added := 0, ""
	for i := line - 1; i >= 0 && i < len(lines); i++ {
		if m := pathsLine().FindStringSubmatch(lines[i]); m != nil {
			end := lines[i][len(strings.TrimRight(lines[i], "\r\n")):]
			after, added = i+1, m[1]+"paths="+path+` \`+end
		}
		if !strings.HasSuffix(strings.TrimRight(lines[i], "\r\n"), `\`) {
			break
		}
	}
	if added == "" {
		return src, false
	}
	return []byte(strings.Join(lines[:after], "") + added + strings.Join(lines[after:], "")), true
}

// AddArgument returns a file with a further argument before the paths in the call of controller-gen with a
// generator that starts at a line, from 1. ok is false if the line does not have both.
func AddArgument(src []byte, line int, generator, argument string) (next []byte, ok bool) {
	lines := strings.SplitAfter(string(src), "\n")
	if line < 1 || line > len(lines) {
		return src, false
	}
	words := " " + lines[line-1]
	at := strings.Index(words, " paths=")
	if at < 0 || !strings.Contains(words[:at+1], " "+generator+" ") && !strings.Contains(words[:at], " "+generator+":") {
		return src, false
	}
	lines[line-1] = words[1:at] + " " + argument + words[at:]
	return []byte(strings.Join(lines, "")), true
}
