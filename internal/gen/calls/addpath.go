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
