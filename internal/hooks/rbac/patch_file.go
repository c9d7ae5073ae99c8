package rbac

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// patchPath is the environment variable with the path of the file for patch operations.
const patchPath = "KUBERNETES_PATCH_PATH"

// writesPatch allows the patch operations in the here-documents of a statement; commands
// that print others are followed themselves. It reports a statement that writes the
// file for patch operations and shows none.
func (p *program) writesPatch(s *syntax.Stmt, in *script, f *frame) {
	sends := false
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			for _, text := range p.hereDocument(r, f) {
				p.operationsIn(text, in.at(r), in)
			}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			sends = sends || uses(r.Word, patchPath)
		}
	}
	if b, is := s.Cmd.(*syntax.BinaryCmd); is && b.Op == syntax.Pipe {
		if c, is := b.Y.Cmd.(*syntax.CallExpr); is && len(c.Args) > 1 && c.Args[0].Lit() == "tee" {
			sends = sends || slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return uses(w, patchPath) })
		}
	}
	if sends && !p.showsOperation(s, map[string]bool{}) {
		p.reportUnknown(in.at(s), in, "the script does not show the patch operations")
	}
}

// showsOperation reports whether a patch operation is written out below a node, or in a
// function or variable that it uses. What it allows is derived there.
func (p *program) showsOperation(n syntax.Node, seen map[string]bool) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if found {
			return false
		}
		switch x := n.(type) {
		case *syntax.Lit:
			found = hasOperation(x.Value)
		case *syntax.SglQuoted:
			found = hasOperation(x.Value)
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				return true
			}
			if fn := p.functions[x.Args[0].Lit()]; fn != nil && !seen[x.Args[0].Lit()] {
				seen[x.Args[0].Lit()] = true
				found = p.showsOperation(fn.decl.Body, seen)
			}
		case *syntax.ParamExp:
			if x.Param == nil || seen["$"+x.Param.Value] {
				return true
			}
			seen["$"+x.Param.Value] = true
			for _, w := range p.variables[x.Param.Value] {
				for _, word := range w.words {
					found = found || p.showsOperation(word, seen)
				}
			}
		}
		return !found
	})
	return found
}

// hasOperation reports whether a text has the name of an operation, and its key.
func hasOperation(text string) bool {
	if !strings.Contains(text, "operation") {
		return false
	}
	for name := range verbsOf {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}
