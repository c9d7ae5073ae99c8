package rbac

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// patchPath is the variable with the file for patch operations.
const patchPath = "KUBERNETES_PATCH_PATH"

// writesPatch looks at what a statement sends to the engine as operations: texts in
// here-documents are read here, others where a command prints them. A statement that
// shows none is reported.
func (p *program) writesPatch(s *syntax.Stmt, in *script, f *frame) {
	sends := false
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			texts := p.expandHere(r, f)
			for _, text := range texts {
				p.operationsIn(text, in.at(r), in)
			}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			sends = sends || looksAt(r.Word, patchPath)
		}
	}
	if b, is := s.Cmd.(*syntax.BinaryCmd); is && b.Op == syntax.Pipe {
		if c, is := b.Y.Cmd.(*syntax.CallExpr); is && len(c.Args) > 1 && c.Args[0].Lit() == "tee" {
			sends = sends || slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return looksAt(w, patchPath) })
		}
	}
	if sends && !p.seen(s, in, map[string]bool{}) {
		p.unseen(in.at(s), in, "no patch operation is written out in what goes to $%s", patchPath)
	}
}

func (p *program) expandHere(r *syntax.Redirect, f *frame) []string {
	if r.Op == syntax.WordHdoc {
		return p.expandText(r.Word, f)
	}
	return p.hereDocument(r, f)
}

// seen reports whether an operation is written out below a node, or in a function
// or variable that it uses. What they say of it is looked at where it stands.
func (p *program) seen(n syntax.Node, in *script, looked map[string]bool) bool {
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
			if fn := p.functions[x.Args[0].Lit()]; fn != nil && !looked[x.Args[0].Lit()] {
				looked[x.Args[0].Lit()] = true
				found = p.seen(fn.decl.Body, fn.in, looked)
			}
		case *syntax.ParamExp:
			if x.Param == nil || looked["$"+x.Param.Value] {
				return true
			}
			looked["$"+x.Param.Value] = true
			for _, w := range p.vars[x.Param.Value] {
				for _, word := range w.words {
					found = found || p.seen(word, in, looked)
				}
			}
		}
		return !found
	})
	return found
}

// hasOperation reports whether a text has the name of an operation and the key that
// says so.
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
