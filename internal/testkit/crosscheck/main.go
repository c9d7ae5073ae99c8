// Command crosscheck type-checks this module and its tests for other operating systems.
//
//	crosscheck GOOS...
//
// Compiling would find the same errors, but would take minutes for each system, because
// nearly all of the code belongs to dependencies. crosscheck skips the function bodies of
// dependencies.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	code := 0
	for _, system := range os.Args[1:] {
		fmt.Println("type-check for", system)
		problems, err := check(system)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, p := range problems {
			fmt.Fprintln(os.Stderr, p)
			code = 1
		}
	}
	os.Exit(code)
}

// check returns the errors in the packages of this module.
func check(system string) (problems []string, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests: true, BuildFlags: []string{"-tags=testall,testextra"},
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, root+string(filepath.Separator)) {
				stripBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	for _, pkg := range all {
		if strings.HasSuffix(pkg.ID, ".test") {
			continue // the main package that the go command generates for tests
		}
		for _, e := range pkg.Errors {
			problems = append(problems, e.Error())
		}
	}
	return problems, nil
}

// stripBodies removes function bodies, which are not needed to type-check importers of a
// package. The package itself then has unused imports; check ignores these errors.
func stripBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
