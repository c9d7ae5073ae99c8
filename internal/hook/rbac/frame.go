package rbac

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// frame is a run of a function, or of a script's own commands.
type frame struct {
	fn    *function // nil in none
	args  []string
	known bool // args are
	deep  int
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
