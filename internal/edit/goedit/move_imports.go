package goedit

import (
	"cmp"
	"go/ast"
	"go/format"
	"go/types"
	"slices"
	"strconv"

	"github.com/operon-dev/operon/internal/fault"
)

// Package is a package as other files import it.
type Package struct {
	Path  string // of the import
	Name  string // in its package clause
	Alias string // what scaffolded files call it; "": Name
}

func (p Package) called() string { return cmp.Or(p.Alias, p.Name) }

// MoveImports brings the file to a package that moved, or whose names moved to
// several: to says which of them declares a name now. What the file calls the
// package stays, so that its code stays too; only the name that scaffolded files
// give it becomes the new one, where nothing else is called so.
//
// A file that imports all names of a package with a dot, and of which the names
// now belong to several, is an error.
func (f *File) MoveImports(old Package, to func(name string) Package) error {
	if f.err != nil {
		return f.err
	}
	clean := formatted(f.src)
	for i := 0; i < len(f.file.Imports); i++ {
		if importPath(f.file.Imports[i]) == old.Path {
			if err := f.reimport(i, old, to); err != nil {
				return err
			}
		}
	}
	f.reformat(clean)
	return f.err
}

// reformat lays a file out anew that was in gofmt's form: imports stand in the
// order of their paths.
func (f *File) reformat(clean bool) {
	if !clean || f.err != nil {
		return
	}
	out, err := format.Source(f.src)
	if err == nil {
		err = f.replace(splice{0, len(f.src), string(out)})
	}
	f.err = cmp.Or(f.err, err)
}

// replace makes the splices, which are in order, or leaves the error.
func (f *File) replace(splices ...splice) error {
	g, err := f.apply(splices)
	if err != nil {
		f.err = err
		return err
	}
	*f = *g
	return nil
}

// reimport treats the import spec of that index.
func (f *File) reimport(index int, old Package, to func(string) Package) error {
	local := old.Name
	if name := f.file.Imports[index].Name; name != nil {
		local = name.Name
	}
	uses := f.selections(local)
	var packages []Package // that the uses belong to, the first takes the spec over
	for _, u := range uses {
		if p := to(u.Sel.Name); !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	if local == "." {
		packages = f.dotted(to)
		if len(packages) > 1 {
			f.err = fault.Failed("import it by a name, then repeat the command",
				"%s imports the names of %s with a dot, and they become those of several packages", f.path, old.Path)
			return f.err
		}
	}
	if len(packages) == 0 {
		packages = []Package{to("")}
	}
	if i := slices.IndexFunc(packages, func(p Package) bool { return p.Path == old.Path }); i > 0 {
		packages[0], packages[i] = packages[i], packages[0] // one stays where it is
	}
	names := map[string]string{} // import path -> what the file calls the package now
	main := packages[0]
	names[main.Path] = f.nameOf(main, old, local)
	edits := []splice{f.respec(index, main, local, names[main.Path])}
	if other := f.importedAs(main.Path, index); other != "" && local != "." && local != "_" {
		if line, ok := f.importLine(index); ok { // two imports of one package become one
			names[main.Path], edits = other, []splice{line}
		}
	}
	rename := func(p Package, edits []splice) []splice {
		for _, u := range f.selections(local) {
			if x := u.X.(*ast.Ident); to(u.Sel.Name) == p && x.Name != names[p.Path] {
				edits = append(edits, splice{f.offset(x.Pos()), f.offset(x.End()), names[p.Path]})
			}
		}
		return edits
	}
	for _, p := range packages[1:] {
		alias := p.called()
		if alias == p.Name {
			alias = ""
		}
		names[p.Path] = f.Import(alias, p.Path)
		if err := f.replace(rename(p, nil)...); err != nil {
			return err
		}
	}
	if len(packages) > 1 { // imports may have come in before it
		index = slices.IndexFunc(f.file.Imports, func(s *ast.ImportSpec) bool {
			return importPath(s) == old.Path && (s.Name == nil && local == old.Name || s.Name != nil && s.Name.Name == local)
		})
		edits = []splice{f.respec(index, main, local, names[main.Path])}
	}
	return f.replace(rename(main, edits)...)
}

// nameOf is what the file is to call the package that it knows as local.
func (f *File) nameOf(p, old Package, local string) string {
	if local == old.called() && p.called() != local && f.free(p.called()) == p.called() {
		return p.called()
	}
	return local
}

// respec writes the import spec of that index anew: without a name when the
// package's own will do and the file did so before, or had a scaffolded name.
func (f *File) respec(index int, p Package, local, name string) splice {
	spec := f.file.Imports[index]
	text := strconv.Quote(p.Path)
	if name != p.Name || spec.Name != nil && name == local {
		text = name + " " + text
	}
	return splice{f.offset(spec.Pos()), f.offset(spec.Path.End()), text}
}

// importedAs is the name of another import of the same package, or "".
func (f *File) importedAs(path string, but int) string {
	for i, spec := range f.file.Imports {
		if name := f.localName(spec); i != but && importPath(spec) == path && name != "_" && name != "." {
			return name
		}
	}
	return ""
}

// importLine takes out the line of an import spec that stands alone on it.
func (f *File) importLine(index int) (splice, bool) {
	spec := f.file.Imports[index]
	start, end := f.lineStart(f.offset(spec.Pos())), f.nextLine(f.offset(spec.End()))
	alone := f.startsLine(f.offset(spec.Pos())) && f.behind(spec) == f.offset(spec.End()) && spec.Doc == nil
	return splice{start, end, ""}, alone
}

// selections are the names that the file selects from an import.
func (f *File) selections(local string) []*ast.SelectorExpr {
	scope := f.scope()
	var list []*ast.SelectorExpr
	ast.Inspect(f.file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == local && isImport(lookup(scope, x)) {
			list = append(list, s)
		}
		return true
	})
	return list
}

// dotted are the packages that the file's free names belong to.
func (f *File) dotted(to func(string) Package) []Package {
	var list []Package
	for name := range f.Free() {
		if p := to(name); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// lookup is what an identifier means where it stands; nil: nothing in the file.
func lookup(scope *types.Scope, id *ast.Ident) types.Object {
	if inner := scope.Innermost(id.Pos()); inner != nil {
		_, object := inner.LookupParent(id.Name, id.Pos())
		return object
	}
	return nil
}

func isImport(object types.Object) bool {
	_, ok := object.(*types.PkgName)
	return object == nil || ok
}
