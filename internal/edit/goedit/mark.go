package goedit

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// MarkType ensures that the type has the marker, such as
// "+kubebuilder:storageversion", as a separate comment line where
// controller-gen reads it: in the doc comment of the type, or in the closest
// comment above it. The line goes above the first line there that starts with
// +kubebuilder:, or else above the doc comment, or else above the type. If the
// file does not declare the type, the hint of the error contains the line to
// add by hand.
func (f *File) MarkType(typeName, marker string) error {
	if f.err != nil {
		return f.err
	}
	line := "// " + strings.TrimSpace(strings.TrimPrefix(marker, "//"))
	t, ok := f.typeDecl(typeName)
	if !ok {
		f.err = fault.Failed("add this line by hand above the type: "+line, "%s does not declare type %s", f.path, typeName)
		return f.err
	}
	if t.marked(line) {
		return nil
	}
	at := f.above(t.markerPos())
	text := at.lead + at.indent + line
	set := func(g *File) bool {
		t, ok := g.typeDecl(typeName)
		return ok && t.marked(line)
	}
	// The second candidate is a separate comment, for a doc comment that gofmt
	// would reformat with an additional line.
	if !f.edit(set, []splice{{at.off, at.off, text + at.tail}},
		[]splice{{at.off, at.off, text + edit.LineEnd(f.src) + at.tail}}) {
		f.err = fault.Failed("add this line by hand above the type: "+line,
			"%s: found no place for a marker of type %s", f.path, typeName)
	}
	return f.err
}

// typeDecl is a type declaration with the comments whose markers controller-gen
// assigns to the type: its doc comment, and the closest other comment between
// it and the previous declaration. (See controller-tools, package markers,
// Collector.)
type typeDecl struct {
	pos        token.Pos
	block, doc *ast.CommentGroup // each may be nil
}

func (f *File) typeDecl(name string) (typeDecl, bool) {
	prev := f.file.Name.End()
	for _, d := range f.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				pos, doc := spec.Pos(), spec.Doc
				switch {
				case !g.Lparen.IsValid():
					pos, doc = g.Pos(), g.Doc
				case s == g.Specs[0]:
					prev = g.Lparen
				}
				if spec.Name.Name == name {
					return typeDecl{pos: pos, block: f.blockAbove(prev, pos, doc), doc: doc}, true
				}
				prev = spec.End()
			}
		}
		prev = d.End()
	}
	return typeDecl{}, false
}

// blockAbove returns the last comment between prev and pos that is neither doc
// nor on the line of prev.
func (f *File) blockAbove(prev, pos token.Pos, doc *ast.CommentGroup) *ast.CommentGroup {
	var block *ast.CommentGroup
	for _, g := range f.file.Comments {
		if g != doc && f.line(prev) < f.line(g.Pos()) && prev < g.Pos() && g.Pos() < pos {
			block = g
		}
	}
	return block
}

// markerPos returns the position above which a new marker goes.
func (t typeDecl) markerPos() token.Pos {
	for _, c := range t.comments() {
		if strings.HasPrefix(markerText(c), "+kubebuilder:") {
			return c.Pos()
		}
	}
	if t.doc != nil {
		return t.doc.Pos()
	}
	return t.pos
}

func (t typeDecl) marked(line string) bool {
	for _, c := range t.comments() {
		if "// "+markerText(c) == line {
			return true
		}
	}
	return false
}

func (t typeDecl) comments() []*ast.Comment {
	var list []*ast.Comment
	for _, g := range []*ast.CommentGroup{t.block, t.doc} {
		if g != nil {
			list = append(list, g.List...)
		}
	}
	return list
}

// markerText returns the text of a line comment, and "" for a block comment.
func markerText(c *ast.Comment) string {
	text, ok := strings.CutPrefix(c.Text, "//")
	if !ok {
		return ""
	}
	return strings.TrimSpace(text)
}
