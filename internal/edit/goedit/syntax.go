package goedit

import (
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
