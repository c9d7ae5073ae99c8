package generatecmd

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watch"
)

// line is the result of one cycle of a watch.
type line struct {
	at     time.Time
	spent  time.Duration
	causes []string // paths that changed, sorted; at least one

	changes   []scaffold.Change // written, sorted by path
	recovered bool              // the previous cycle failed
	failed    bool
	again     bool // same error as in the previous cycle
}

// quiet reports whether the next line may replace this one on a terminal.
func (l line) quiet() bool { return l.again || len(l.changes) == 0 && !l.recovered && !l.failed }

// few is the maximum number of files that are listed by name.
const few = 3

// text returns the line, at most width columns long unless width is 0. It lists files by
// path if there is room, else by name, else by number.
func (l line) text(paint func(colour, text string) string, width int) string {
	const arrow = " -> "
	head := fmt.Sprintf("%s %8s  ", l.at.Format(time.TimeOnly), command.Duration(l.spent))
	var cause, result string
	for _, form := range []struct{ cause, result string }{
		{l.cause(few), l.result(few, fullPath)}, {l.cause(few), l.result(few, path.Base)},
		{l.cause(few), l.result(0, nil)}, {l.cause(1), l.result(0, nil)},
	} {
		cause, result = form.cause, form.result
		if width == 0 || utf8.RuneCountInString(head+cause+arrow+result) < width {
			break
		}
	}
	switch {
	case l.failed:
		result = paint(term.Red, result)
	case l.recovered:
		result = paint(term.Green, result)
	}
	return paint(term.Faint, head) + cause + paint(term.Faint, arrow) + result
}

func fullPath(name string) string { return name }

// cause returns what changed. Up to few files are listed by name.
func (l line) cause(few int) string {
	switch {
	case slices.Contains(l.causes, watch.Everything):
		return "many files"
	case len(l.causes) <= few:
		return strings.Join(l.causes, ", ")
	}
	return command.Files(len(l.causes))
}

// result returns what the cycle wrote. Up to few files are listed, as name prints them.
func (l line) result(few int, name func(string) string) string {
	text := "no change"
	var paths, names []string
	var created, removed int
	for _, c := range l.changes {
		paths = append(paths, c.Path)
		suffix := ""
		switch c.Op {
		case scaffold.Create:
			suffix = " (new)"
			created++
		case scaffold.Delete:
			suffix = " (removed)"
			removed++
		}
		if len(l.changes) <= few {
			names = append(names, name(c.Path)+suffix)
		}
	}
	switch {
	case l.again:
		return "the same error"
	case l.failed:
		return "error"
	case len(l.changes) == 0 && l.recovered:
		return "fixed"
	case len(l.changes) == 0:
	case slices.Equal(paths, l.causes):
		text = "restored"
	case len(names) > 0:
		text = strings.Join(names, ", ")
	default:
		text = command.Files(len(paths)) + newAndRemoved(created, removed)
	}
	if l.recovered {
		text = "fixed, " + text
	}
	return text
}

func newAndRemoved(created, removed int) string {
	switch {
	case created > 0 && removed > 0:
		return fmt.Sprintf(" (%d new, %d removed)", created, removed)
	case created > 0:
		return fmt.Sprintf(" (%d new)", created)
	case removed > 0:
		return fmt.Sprintf(" (%d removed)", removed)
	}
	return ""
}
