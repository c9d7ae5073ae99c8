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
	formatted func() bool
	codeSize  func() int
	tokens    func() []string
	scope     func() *types.Scope
}

func newSyntax(path string, src []byte, file *ast.File, tok *token.File) *syntax {
	s := &syntax{path: path, src: src, file: file, tok: tok}
	s.formatted = sync.OnceValue(func() bool { return formatted(src) })
	s.tokens = sync.OnceValue(func() []string { return tokens(src) })
	s.codeSize = sync.OnceValue(func() int { return countCode(s.tokens()) })
	s.scope = sync.OnceValue(s.check)
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

// memory keeps the syntax of contents. A command applies the same edit to a copy of a file to
// find its place, to the file, and to its base, which usually is the same; it also reads some
// files again and again.
type memory struct {
	sync.Mutex
	known map[source]*syntax
}

type source struct{ path, src string }

var parsed = memory{known: map[source]*syntax{}}

// maxKnown limits what a process remembers that runs for hours. The files of most projects fit.
const maxKnown = 500

// of parses src, unless it did before.
func (m *memory) of(path string, src []byte) (*syntax, error) {
	key := source{path, string(src)}
	m.Lock()
	s := m.known[key]
	m.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := parseSource(path, []byte(key.src)) // the caller may change src
	if err != nil {
		return nil, err
	}
	m.Lock()
	defer m.Unlock()
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	m.known[key] = s
	return s, nil
}
