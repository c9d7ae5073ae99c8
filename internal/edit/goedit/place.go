package goedit

import (
	"bytes"
	"go/ast"
	"go/token"

	"github.com/operon-dev/operon/internal/edit"
)

// place is where lines are added: lead, the indented lines, tail.
type place struct {
	off        int
	skip       int // bytes after off that the line breaks replace
	lead, tail string
	indent     string
	folded     *ast.BlockStmt // a body on one line that must be unfolded first, or nil
}

// above returns the place above the line of pos.
func (f *File) above(pos token.Pos) place {
	off := f.offset(pos)
	indent := f.indent(off)
	if f.startsLine(off) {
		return place{off: f.lineStart(off), tail: edit.LineEnd(f.src), indent: indent}
	}
	return place{off: off, lead: edit.LineEnd(f.src), tail: edit.LineEnd(f.src) + indent, indent: indent}
}

func (f *File) beforeStmt(body *ast.BlockStmt, list []ast.Stmt, i int) place {
	pos := list[i].Pos()
	for _, g := range f.file.Comments {
		if f.line(g.End()) == f.line(pos)-1 && f.startsLine(f.offset(g.Pos())) && body.Lbrace < g.Pos() &&
			(i == 0 || f.line(list[i-1].End()) < f.line(g.Pos())) {
			pos = g.Pos()
			break
		}
	}
	p := f.above(pos)
	p.folded = f.folded(body)
	if up := f.lineStart(f.offset(pos)); len(bytes.TrimSpace(f.src[f.lineStart(max(up-1, 0)):up])) == 0 {
		p.tail = edit.LineEnd(f.src) + p.tail // keep the statement at the start of a paragraph
	}
	return p
}

func (f *File) afterStmt(body *ast.BlockStmt, list []ast.Stmt, i int) place {
	for names := assigned(list[i]); i+1 < len(list) && f.follows(list[i], list[i+1], names); {
		i++
	}
	start, end := f.offset(list[i].Pos()), f.endOfLine(list[i])
	eol, indent := edit.LineEnd(f.src), f.indent(start)
	p := place{off: f.nextLine(end), tail: eol, indent: indent, folded: f.folded(body)}
	if rest := bytes.TrimSpace(f.src[end:p.off]); len(rest) > 0 {
		n := len(f.src[end:]) - len(bytes.TrimLeft(f.src[end:], "; \t"))
		p = place{off: end, skip: n, lead: eol, tail: eol + indent, indent: indent, folded: p.folded}
	}
	return p
}

// assigned returns the names that s assigns.
func assigned(s ast.Stmt) map[string]bool {
	names := map[string]bool{}
	if a, ok := s.(*ast.AssignStmt); ok {
		for _, e := range a.Lhs {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
				names[id.Name] = true
			}
		}
	}
	return names
}

// follows reports whether next is on the line after s and only checks one of
// the names.
func (f *File) follows(s, next ast.Stmt, names map[string]bool) bool {
	if f.line(next.Pos()) > f.line(s.End())+1 {
		return false
	}
	switch next := next.(type) {
	case *ast.ExprStmt:
	case *ast.IfStmt:
		if next.Init != nil {
			return false
		}
	default:
		return false
	}
	found := false
	ast.Inspect(next, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && names[id.Name]
		return !found
	})
	return found
}

// folded returns body if it is on one line, or else nil.
func (f *File) folded(body *ast.BlockStmt) *ast.BlockStmt {
	if f.line(body.Lbrace) == f.line(body.Rbrace) {
		return body
	}
	return nil
}
