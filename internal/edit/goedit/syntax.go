package goedit

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sync"
)

// syntax is what one content of a file means. It never changes: an edit gives its File
// another one.
type syntax struct {
	path string
	src  []byte
	file *ast.File
	tok  *token.File

	// What edits need to know about src, computed when it is first needed.
	formatted  func() bool
	codeSize   func() int
	tokens     func() []string
	scope      func() *types.Scope
	qualifiers func() []string
}

func newSyntax(path string, src []byte, file *ast.File, tok *token.File) *syntax {
	s := &syntax{path: path, src: src, file: file, tok: tok}
	s.formatted = sync.OnceValue(func() bool { return formatted(src) })
	s.tokens = sync.OnceValue(func() []string { return tokens(src) })
	s.codeSize = sync.OnceValue(func() int { return countCode(s.tokens()) })
	s.scope = sync.OnceValue(s.check)
	s.qualifiers = sync.OnceValue(func() []string { return qualifierNames(file) })
	return s
}

// check returns the scopes of the file. The types of imports stay unknown,
// which name lookup does not need.
func (s *syntax) check() *types.Scope {
	fset := token.NewFileSet()
	fset.AddExistingFiles(s.tok)
	config := types.Config{FakeImportC: true, Error: func(error) {}}
	pkg, _ := config.Check("", fset, []*ast.File{s.file}, nil) // errors are expected, because nothing can be imported
	return pkg.Scope()
}

// cleanAfter reports whether a file is gofmt-clean that splices made of a clean one. If they are
// inside one block of imports or one function, it formats only that, because gofmt formats each
// declaration on its own.
func (s *syntax) cleanAfter(splices []splice) bool {
	if len(splices) == 1 {
		start := splices[0].start
		end := start + len(splices[0].text)
		for _, d := range s.file.Decls {
			first, last, ok := s.block(d)
			if ok && first < start && end <= last {
				return formatted(fmt.Appendf(nil, "package p\n\n%s\n", s.src[s.tok.Offset(d.Pos()):last+1]))
			}
		}
	}
	return s.formatted()
}

// block returns the offsets of the parentheses or braces of an import declaration or a function. ok is
// false if more code or a comment is on one of their lines, which gofmt aligns with other lines.
func (s *syntax) block(d ast.Decl) (first, last int, ok bool) {
	switch d := d.(type) {
	case *ast.GenDecl:
		if d.Tok != token.IMPORT || !d.Lparen.IsValid() {
			return 0, 0, false
		}
		first, last = s.tok.Offset(d.Lparen), s.tok.Offset(d.Rparen)
	case *ast.FuncDecl:
		if d.Body == nil {
			return 0, 0, false
		}
		first, last = s.tok.Offset(d.Body.Lbrace), s.tok.Offset(d.Body.Rbrace)
	default:
		return 0, 0, false
	}
	return first, last, s.src[first+1] == '\n' && s.src[last-1] == '\n' && last+1 < len(s.src) && s.src[last+1] == '\n'
}
