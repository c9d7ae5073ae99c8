package goedit

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// AddArguments adds arguments to the last call of call, named as in BeforeCall, whose first
// argument is the name first. It omits arguments that one of these calls has. In a call with an
// argument on each line, they get lines of their own.
func (f *File) AddArguments(call, first string, args ...string) error {
	if f.err != nil {
		return f.err
	}
	var last *ast.CallExpr
	have := map[string]bool{}
	ast.Inspect(f.file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && calls(c, call) && len(c.Args) > 0 && chain(c.Args[0]) == first {
			last = c
			for _, arg := range c.Args {
				have[strings.Join(tokens(f.src[f.offset(arg.Pos()):f.offset(arg.End())]), "")] = true
			}
		}
		return true
	})
	missing := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return have[arg] })
	if len(missing) == 0 {
		return nil
	}
	byHand := "add by hand, then repeat the command: " + strings.Join(missing, ", ")
	if last == nil {
		f.err = fault.Failed(byHand, "%s has no call of %s with %s", f.path, call, first)
		return f.err
	}
	end := last.Args[len(last.Args)-1]
	off, glue := f.offset(end.End()), ", "
	if at := f.offset(end.Pos()); len(last.Args) > 1 && f.startsLine(at) {
		glue = "," + edit.LineEnd(f.src) + f.indent(at)
	}
	if !f.edit(func(*File) bool { return true }, []splice{{off, off, glue + strings.Join(missing, glue)}}) {
		f.err = fault.Failed(byHand, "%s: the arguments do not fit into the call of %s", f.path, call)
	}
	return f.err
}
