package rbac

import (
	"fmt"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// frame is a run of a function, or of a script's own commands.
type frame struct {
	fn    *function // nil in none
	args  []string
	known bool // args are
	deep  int
	outer *frame // of the command that runs a text, whose variables the text has; nil for no text
}

const (
	// deepest is how many calls deep a program is followed with their arguments, and
	// widest how many of them there may be. Others may be a circle with ever other
	// arguments, and count as calls with arguments that are not known.
	deepest = 12
	widest  = 1000
)

// with is the frame of what a command calls with arguments.
func (f *frame) with(args []string) *frame {
	return &frame{args: args, known: !slices.Contains(args, many), deep: f.deep + 1}
}

// unknown is the frame of what is called with arguments that nobody knows.
func (f *frame) unknown() *frame { return &frame{deep: f.deep + 1} }

// inText is the frame of a text that a command runs, which has arguments of its own.
func (f *frame) inText(args []string, known bool) *frame {
	return &frame{args: args, known: known, deep: f.deep + 1, outer: f}
}

// around is the frame of the script's own command that a text is run by.
func (f *frame) around() *frame {
	for f.outer != nil {
		f = f.outer
	}
	return f
}

// bounded is the frame for a call after a number of others.
func (f *frame) bounded(calls int) *frame {
	if f.deep > deepest || calls > widest {
		return &frame{deep: f.deep}
	}
	return f
}

// key tells calls of something with other arguments apart.
func (f *frame) key(name string) string {
	if !f.known {
		return name
	}
	return fmt.Sprintf("%s %q", name, f.args)
}

// argumentsAt are the arguments at a place, where shift may have taken some away.
func (f *frame) argumentsAt(n syntax.Node) (args []string, known bool) {
	if !f.known || f.fn == nil {
		return f.args, f.known
	}
	gone := 0
	known = true
	seen := map[syntax.Node]bool{}
	if body, is := f.fn.decl.Body.Cmd.(*syntax.Block); is {
		for _, s := range body.Stmts {
			cmd := s.Cmd
			if or, is := cmd.(*syntax.BinaryCmd); is && or.Op == syntax.OrStmt { // shift || true
				cmd = or.X.Cmd
			}
			c, is := cmd.(*syntax.CallExpr)
			if !is || !isShift(c) {
				continue
			}
			seen[c] = true
			if c.Pos().Offset() < n.Pos().Offset() {
				by, literal := shiftBy(c)
				gone, known = gone+by, known && literal
			}
		}
	}
	syntax.Walk(f.fn.decl.Body, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && isShift(c) && !seen[c] {
			known = false // in a loop, or on a condition
		}
		_, inner := n.(*syntax.FuncDecl)
		return !inner
	})
	return f.args[min(gone, len(f.args)):], known
}

func isShift(c *syntax.CallExpr) bool { return len(c.Args) > 0 && c.Args[0].Lit() == "shift" }

func shiftBy(c *syntax.CallExpr) (n int, literal bool) {
	if len(c.Args) == 1 {
		return 1, true
	}
	n, err := strconv.Atoi(c.Args[1].Lit())
	return n, err == nil
}

// writer is a place where a variable gets its value.
type writer struct {
	fn    *function
	words []*syntax.Word // one of them, or in an array all of them
	list  bool           // an array
	local bool
	any   bool // some value
}
