package gomod

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// API is a Go package with the types of one version of an API group.
type API struct {
	Path   string // import path
	Module Module
	Group  string // the full name, with the domain; "" if unknown
	// Registers reports whether the package has AddToScheme, which adds its types to a
	// scheme.
	Registers bool
	Kinds     []Kind // sorted by name
}

// Kind is a type that has a list type.
type Kind struct {
	Name    string
	Plural  string // from its markers; "" if they do not set it
	Cluster bool   // objects are cluster-scoped
}

// Kind returns the kind with that name. ok is false if the package does not have it.
func (a API) Kind(name string) (Kind, bool) {
	i := slices.IndexFunc(a.Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return a.Kinds[i], true
}

// Find returns the packages of the modules that declare kind in a version of an API
// group. By convention, the folder of such a package has the name of the version.
func Find(ctx context.Context, modules []Module, version, kind string) ([]API, error) {
	var found []API
	for _, m := range modules {
		if m.Dir == "" {
			continue
		}
		err := filepath.WalkDir(m.Dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				return err
			case !d.IsDir() || name == m.Dir:
				return nil
			case strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") ||
				slices.Contains([]string{"internal", "vendor", "testdata"}, d.Name()):
				return fs.SkipDir
			case d.Name() != version:
				return nil
			}
			rel, err := filepath.Rel(m.Dir, name)
			if err != nil {
				return err
			}
			api, err := Read(m, path.Join(m.Path, filepath.ToSlash(rel)))
			if errors.Is(err, fs.ErrNotExist) {
				return nil // no Go files here, but maybe below
			}
			if _, ok := api.Kind(kind); ok {
				found = append(found, api)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Read reads the package with an import path, which must be part of m. The error wraps
// fs.ErrNotExist if there are no Go files.
func Read(m Module, importPath string) (API, error) {
	api := API{Path: importPath, Module: m}
	files, err := parseDir(filepath.Join(m.Dir, filepath.FromSlash(strings.TrimPrefix(importPath, m.Path))))
	if err != nil {
		return api, err
	}
	types := map[string]Kind{}
	for _, f := range files {
		api.collect(f, types)
	}
	if api.Group == "" {
		api.Group = groupFromCode(m, files)
	}
	for name, k := range types {
		if _, ok := types[name+"List"]; ok {
			api.Kinds = append(api.Kinds, k)
		}
	}
	slices.SortFunc(api.Kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return api, nil
}

// source is a parsed file with its text.
type source struct {
	*ast.File
	fset *token.FileSet
	text []byte
}

// parseDir parses the files of a package without tests. It ignores files that do not
// parse.
func parseDir(dir string) ([]source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []source
	fset := token.NewFileSet()
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := input.ReadFile(filepath.Join(dir, e.Name()), input.Text)
		if err != nil {
			return nil, err
		}
		if f, err := parser.ParseFile(fset, e.Name(), text, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			files = append(files, source{f, fset, text})
		}
	}
	if len(files) == 0 {
		return nil, &fs.PathError{Op: "read Go files of", Path: dir, Err: fs.ErrNotExist}
	}
	return files, nil
}

var (
	groupMarker    = lazyregexp.New(`(?m)^\s*(?://|\*)?\s*\+groupName=(\S+)`)
	resourceMarker = lazyregexp.New(`\+kubebuilder:resource:(\S+)`)
	nameMarker     = lazyregexp.New(`\+resourceName=(\S+)`)
)

// collect adds what f declares to a, and its struct types to types.
func (a *API) collect(f source, types map[string]Kind) {
	if m := groupMarker().FindSubmatch(f.text); m != nil && a.Group == "" {
		a.Group = string(m[1])
	}
	end := f.Name.End() // the end of the previous declaration, where comments of the next one may begin
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			a.Registers = a.Registers || d.Recv == nil && d.Name.Name == "AddToScheme"
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					a.Registers = a.Registers || slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.Name == "AddToScheme" })
				case *ast.TypeSpec:
					if _, ok := s.Type.(*ast.StructType); ok {
						comments := f.text[f.fset.Position(end).Offset:f.fset.Position(s.Pos()).Offset]
						types[s.Name.Name] = kindFrom(s.Name.Name, string(comments))
					}
				}
			}
		}
		end = d.End()
	}
}

// kindFrom reads the markers of a type.
func kindFrom(name, comments string) Kind {
	k := Kind{Name: name, Cluster: strings.Contains(comments, "+genclient:nonNamespaced")}
	if m := nameMarker().FindStringSubmatch(comments); m != nil {
		k.Plural = m[1]
	}
	for _, m := range resourceMarker().FindAllStringSubmatch(comments, -1) {
		for argument := range strings.SplitSeq(m[1], ",") {
			switch key, value, _ := strings.Cut(argument, "="); key {
			case "path":
				k.Plural = strings.Trim(value, `"`)
			case "scope":
				k.Cluster = strings.Trim(value, `"`) == "Cluster"
			}
		}
	}
	return k
}
