// Package specs removes the specs of Ginkgo from rendered tests, for folders whose tests have no place for them.
package specs

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// The packages that tests import with a dot.
const (
	Ginkgo = "github.com/onsi/ginkgo/v2"
	Gomega = "github.com/onsi/gomega"
)

// Without is a sink for rendered tests that omits their specs, what only specs use, and tests
// that consist of specs alone. Without the matchers of Gomega, it also omits tests that use them.
func Without(sink render.Sink, matchers bool) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if !source.IsTest(name) {
			return sink(name, mode, content)
		}
		plain, ok, err := plainTests(content, matchers)
		if err != nil || !ok {
			return err
		}
		return sink(name, mode, plain)
	}
}

// plainTests returns a rendered test file without its specs. ok is false if no test is left.
func plainTests(src []byte, matchers bool) (plain []byte, ok bool, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false, err
	}
	cut := func(from, to token.Pos) {
		start, end := fset.Position(from).Offset, fset.Position(to).Offset
		for i := start; i < end; i++ {
			src[i] = 0
		}
	}
	src = slices.Clone(src)
	if !slices.ContainsFunc(file.Decls, isSpec) {
		return src, true, nil
	}
	last := file.Name.End()
	tests := 0
	var kept []ast.Decl
	for _, d := range file.Decls {
		if isSpec(d) {
			cut(last, d.End()) // with the comments before it
		} else {
			kept = append(kept, d)
			tests += countTests(d)
		}
		last = d.End()
	}
	if tests == 0 {
		return nil, false, nil
	}
	used := usedNames(kept)
	for _, spec := range file.Imports {
		if !isUsed(spec, used) {
			cut(spec.Pos(), spec.End())
		} else if spec.Path.Value == strconv.Quote(Gomega) && !matchers {
			return nil, false, nil
		}
	}
	plain = slices.DeleteFunc(src, func(b byte) bool { return b == 0 })
	plain, err = format.Source(append(plain, '\n'))
	return plain, true, err
}

// isSpec reports whether a declaration is of the form var _ = Describe(...).
func isSpec(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR || len(g.Specs) != 1 {
		return false
	}
	v := g.Specs[0].(*ast.ValueSpec)
	return len(v.Names) == 1 && v.Names[0].Name == "_" && len(v.Values) == 1
}

func countTests(d ast.Decl) int {
	if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
		return 1
	}
	return 0
}

// usedNames returns the identifiers in declarations, other than those after a dot.
func usedNames(decls []ast.Decl) map[string]bool {
	used, skip := map[string]bool{}, map[*ast.Ident]bool{}
	for _, d := range decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				skip[n.Sel] = true
			case *ast.Ident:
				if !skip[n] {
					used[n.Name] = true
				}
			}
			return true
		})
	}
	return used
}

// gomegaNames are the names of package gomega that rendered tests use outside of specs, other than
// the matchers, which begin like these.
var gomegaNames = []string{
	"NewWithT", "Expect", "Eventually", "Consistently", "ConsistOf", "Succeed", "Equal", "BeNumerically", "HaveOccurred",
}

// isUsed reports whether the used names need an import of a rendered file.
func isUsed(spec *ast.ImportSpec, used map[string]bool) bool {
	at, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
	switch {
	case spec.Name == nil:
		return used[at[strings.LastIndexByte(at, '/')+1:]]
	case spec.Name.Name != ".":
		return used[spec.Name.Name]
	case at == Ginkgo:
		return used["GinkgoHelper"] || used["DeferCleanup"] || used["By"]
	}
	return at != Gomega || slices.ContainsFunc(gomegaNames, func(name string) bool { return used[name] })
}
