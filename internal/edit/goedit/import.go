package goedit

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// Import ensures that the file imports the package at path and returns the
// local name. An existing import is used, whatever its name, except blank and
// dot imports. Otherwise a line is added with the given name, or with that name
// and a number if the file uses the name for something else. An empty name adds
// an import without a name, for packages that are named like the last element
// of their path.
//
// The line goes next to imports of the same module, or else above "//
// +kubebuilder:scaffold:imports" in an import block, or else into the most
// suitable group, or else into a new block.
func (f *File) Import(name, path string) (local string) { return f.ImportAt(name, path) }

// ImportAt is Import for lines that go to the first of the anchors that the
// file has. It ignores an import that a variable hides there, and imports the
// package again with another name.
func (f *File) ImportAt(name, path string, anchors ...Anchor) (local string) {
	at := f.ScopeAt(anchors...)
	for _, local := range f.importNames(path) {
		if local != "_" && local != "." && (at == nil || !at.hides(local)) {
			return local
		}
	}
	want := name
	if want == "" {
		want = assumedNames(path)[0]
	}
	local = f.free(want)
	if local != want {
		name = local
	}
	if f.err != nil {
		return local
	}
	line := strings.TrimSpace(name + " " + strconv.Quote(path))
	imports := func(g *File) bool {
		return slices.ContainsFunc(g.file.Imports, func(s *ast.ImportSpec) bool {
			return importPath(s) == path && (s.Name == nil && name == "" || s.Name != nil && s.Name.Name == name)
		}) && len(g.file.Imports) == len(f.file.Imports)+1
	}
	if !f.edit(imports, f.importPlaces(name, path, line)...) {
		f.err = fault.Failed("add it by hand, then repeat the command", "%s: found no place for import %s", f.path, line)
		return local
	}
	f.added = append(slices.Clip(f.added), line)
	return local
}

// Selected returns the exported names of the package at path that the file mentions, with the line of each.
func (f *File) Selected(path string) map[string]int {
	locals, found := f.importNames(path), map[string]int{}
	ast.Inspect(f.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.IsExported() {
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(locals, x.Name) && found[sel.Sel.Name] == 0 {
				found[sel.Sel.Name] = f.line(sel.Pos())
			}
		}
		return true
	})
	return found
}

// Uses reports whether the file mentions selector of the package at path, under
// any local name. It detects an edit that exists in another form, for example
// one made by hand.
func (f *File) Uses(path, selector string) bool {
	names := map[string]bool{}
	for _, local := range f.importNames(path) {
		names[local] = true
	}
	found := false
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			found = found || ok && names[x.Name] && n.Sel.Name == selector
		case *ast.Ident:
			found = found || names["."] && n.Name == selector
		}
		return !found
	})
	return found
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "" // unreachable: the parser checked it
	}
	return path
}

// ImportPaths returns the import paths of a file by their local names. The name of an import that has none
// is that which its path suggests and the file uses.
func ImportPaths(file *ast.File) map[string]string {
	f := File{syntax: newSyntax("", nil, file, nil)}
	paths := map[string]string{}
	for _, spec := range file.Imports {
		paths[f.localName(spec)] = importPath(spec)
	}
	return paths
}

// localName returns the name of an import in this file. An import without a
// name has the package's own name, which is not known here: localName returns
// the name suggested by the path that the file uses.
func (f *File) localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	names := assumedNames(importPath(spec))
	for _, used := range f.qualifiers() {
		if slices.Contains(names, used) {
			return used
		}
	}
	return names[0]
}

// qualifierNames returns the names x of all selectors x.y in a file, in the order of their first use.
func qualifierNames(file *ast.File) []string {
	var names []string
	known := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && !known[x.Name] {
				known[x.Name] = true
				names = append(names, x.Name)
			}
		}
		return true
	})
	return names
}

// assumedNames lists the possible names of the package at path, the likeliest
// first: klog for k8s.io/klog/v2, but v2 for example.com/api/v2; yaml for
// gopkg.in/yaml.v3; udiff for github.com/aymanbagabas/go-udiff.
func assumedNames(path string) []string {
	elems := strings.Split(path, "/")
	last := elems[len(elems)-1]
	bases := []string{last}
	if len(elems) > 1 && isMajor(last) {
		// The paths of modules with major version 2 and higher end in /v2, and
		// so do the files of API packages.
		bases = []string{elems[len(elems)-2], last}
		if slices.Contains(elems, "api") || slices.Contains(elems, "apis") {
			slices.Reverse(bases)
		}
	}
	var names []string
	add := func(name string) {
		if token.IsIdentifier(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, b := range bases {
		if i := strings.LastIndex(b, ".v"); i > 0 {
			b = b[:i]
		}
		b = strings.TrimSuffix(strings.TrimSuffix(b, ".go"), "-go")
		add(strings.TrimPrefix(b, "go-"))
		if i := strings.IndexFunc(b, func(r rune) bool { return !isLetterOrDigit(r) }); i > 0 {
			add(b[:i])
		}
		add(b[strings.LastIndexAny(b, "-.")+1:])
		add(strings.NewReplacer("-", "", ".", "").Replace(b))
		add(strings.NewReplacer("-", "_", ".", "_").Replace(b))
	}
	return append(names, "pkg")[:max(1, len(names))]
}

func isLetterOrDigit(r rune) bool {
	return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r > 127
}

// isMajor reports whether elem is a major version suffix of a module path.
func isMajor(elem string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(elem, "v"))
	return err == nil && n >= 2 && elem == "v"+strconv.Itoa(n)
}

// Avoid sets names that new imports must not use because other files of the
// package declare them, which Go does not allow.
func (f *File) Avoid(names map[string]bool) { f.avoid = names }

// free returns name, or name with a number if the file uses it for something
// else: another import, or any declaration. Local variables count too, because
// they would hide the import.
func (f *File) free(name string) string {
	taken := maps.Clone(f.avoid)
	if taken == nil {
		taken = map[string]bool{}
	}
	for _, spec := range f.file.Imports {
		taken[f.localName(spec)] = true
	}
	declared(f.file, func(id *ast.Ident) { taken[id.Name] = true })
	base := name
	if c := name[len(name)-1]; '0' <= c && c <= '9' {
		base += "_" // shipv1_2, because shipv12 looks like a version
	}
	for n := 2; taken[name]; n++ {
		name = base + strconv.Itoa(n)
	}
	return name
}

// declared calls fn with every identifier that n declares in some scope. Fields
// and methods are not in a scope.
func declared(n ast.Node, fn func(*ast.Ident)) {
	fields := func(list *ast.FieldList) {
		if list != nil {
			for _, field := range list.List {
				idents(fn, field.Names...)
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			fields(n.Recv)
			if n.Recv == nil {
				fn(n.Name)
			}
		case *ast.FuncType:
			fields(n.TypeParams)
			fields(n.Params)
			fields(n.Results)
		case *ast.TypeSpec:
			fn(n.Name)
			fields(n.TypeParams)
		case *ast.ValueSpec:
			idents(fn, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				exprs(fn, n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				exprs(fn, n.Key, n.Value)
			}
		}
		return true
	})
}

func idents(fn func(*ast.Ident), list ...*ast.Ident) {
	for _, id := range list {
		fn(id)
	}
}

func exprs(fn func(*ast.Ident), list ...ast.Expr) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			fn(id)
		}
	}
}
