package convert

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Package describes the types of a Go package by its syntax. It does not load imports, which
// would take seconds.
type Package struct {
	Path     string
	Name     string // from the package clause
	Types    map[string]TypeDecl
	Declared map[string]bool   // all package-level names
	funcs    map[string]string // signatures of functions, as written in the source
	Methods  map[string]bool   // as "Type.Method"
	Imports  map[string]bool   // paths
}

// TypeDecl is a type declaration, with the file that resolves its imports.
type TypeDecl struct {
	spec   *ast.TypeSpec
	syntax *ast.File
	File   string // name of the file
}

// ReadPackage reads the Go files in dir from the plan. It skips tests, the file except, and
// files whose build constraints exclude them from an ordinary build. The package must declare
// the type kind.
func ReadPackage(dir, importPath, kind, except string, p *scaffold.Plan) (*Package, error) {
	names, err := p.Files(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]*ast.File{}
	for _, base := range names {
		name := path.Join(dir, base)
		if !strings.HasSuffix(base, ".go") || source.IsTest(name) || name == except {
			continue
		}
		src, err := p.Read(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fault.Failed("correct it, then repeat the command", "%s", err)
		}
		if goenv.Builds(name, src) {
			files[name] = file
		}
	}
	pkg := NewPackage(importPath, files)
	if _, ok := pkg.Types[kind]; !ok {
		return nil, fault.Failed("restore the type: the conversion is generated from its fields", "%s declares no type %s", dir, kind)
	}
	return pkg, nil
}

// NewPackage indexes the files of a package, by name.
func NewPackage(importPath string, files map[string]*ast.File) *Package {
	pkg := &Package{Path: importPath, Types: map[string]TypeDecl{}, Declared: map[string]bool{},
		funcs: map[string]string{}, Methods: map[string]bool{}, Imports: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		pkg.Name = file.Name.Name
		for _, spec := range file.Imports {
			if at, err := strconv.Unquote(spec.Path.Value); err == nil {
				pkg.Imports[at] = true
			}
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				pkg.addFunc(d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if !pkg.Declared[s.Name.Name] { // a duplicate does not compile
							pkg.Types[s.Name.Name] = TypeDecl{s, file, name}
						}
						pkg.Declared[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range s.Names {
							pkg.Declared[id.Name] = true
						}
					}
				}
			}
		}
	}
	return pkg
}

func (g *Package) addFunc(d *ast.FuncDecl) {
	if d.Recv == nil {
		g.Declared[d.Name.Name] = true
		g.funcs[d.Name.Name] = types.ExprString(d.Type)
		return
	}
	for _, recv := range d.Recv.List {
		typ := recv.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if id, ok := typ.(*ast.Ident); ok {
			g.Methods[id.Name+"."+d.Name.Name] = true
		}
	}
}

// Free returns name, or name with a numeric suffix if the package already uses name.
func (g *Package) Free(name string) string {
	stem := name
	for n := 2; g.Declared[name] || types.Universe.Lookup(name) != nil; n++ {
		name = fmt.Sprint(stem, n)
	}
	return name
}
