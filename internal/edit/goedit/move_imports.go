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

// Package describes a package that other files import.
type Package struct {
	Path  string // import path
	Name  string // name in its package clause
	Alias string // import name in scaffolded files; "": Name
}

func (p Package) called() string { return cmp.Or(p.Alias, p.Name) }

// MoveImports updates the file after a package moved or was split into several:
// to returns the package that declares a name now. The local name of the
// package stays, so the code that uses it stays too. Only the name that
// scaffolded files use is replaced with the new one, unless the file uses the
// new one for something else.
//
// It is an error if the file imports the package with a dot and its names now
// belong to several packages.
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

// reformat formats the file again if it was gofmt-clean, because gofmt sorts
// imports by path.
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

// replace applies the splices, which must be in order, or records the error.
func (f *File) replace(splices ...splice) error {
	g, err := f.apply(splices)
	if err != nil {
		f.err = err
		return err
	}
	*f = *g
	return nil
}

// reimport updates the import spec at index.
func (f *File) reimport(index int, old Package, to func(string) Package) error {
	local := old.Name
	if name := f.file.Imports[index].Name; name != nil {
		local = name.Name
	}
	packages, err := f.destinations(local, old, to)
	if err != nil {
		return err
	}
	names := map[string]string{} // import path -> new local name
	main := packages[0]
	names[main.Path] = f.nameOf(main, old, local)
	edits := []splice{f.respec(index, main, local, names[main.Path])}
	if other := f.importedAs(main.Path, index); other != "" && local != "." && local != "_" {
		if line, ok := f.importLine(index); ok { // merge two imports of one package
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
	if len(packages) > 1 { // new imports may precede it
		index = slices.IndexFunc(f.file.Imports, func(s *ast.ImportSpec) bool {
			return importPath(s) == old.Path && (s.Name == nil && local == old.Name || s.Name != nil && s.Name.Name == local)
		})
		edits = []splice{f.respec(index, main, local, names[main.Path])}
	}
	return f.replace(rename(main, edits)...)
}

// destinations returns the packages to which the uses of an import move. The first one
// takes over the import spec. If nothing uses the import, it is the package of "".
func (f *File) destinations(local string, old Package, to func(string) Package) ([]Package, error) {
	var packages []Package
	for _, u := range f.selections(local) {
		if p := to(u.Sel.Name); !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	if local == "." {
		packages = f.dotted(to)
		if len(packages) > 1 {
			f.err = fault.Failed("import it by a name, then repeat the command",
				"%s imports %s with a dot, and its names move to several packages", f.path, old.Path)
			return nil, f.err
		}
	}
	if len(packages) == 0 {
		packages = []Package{to("")}
	}
	if i := slices.IndexFunc(packages, func(p Package) bool { return p.Path == old.Path }); i > 0 {
		packages[0], packages[i] = packages[i], packages[0] // one package keeps its path
	}
	return packages, nil
}

// nameOf returns the new local name of the package that the file imports as
// local.
func (f *File) nameOf(p, old Package, local string) string {
	if local == old.called() && p.called() != local && f.free(p.called()) == p.called() {
		return p.called()
	}
	return local
}

// respec rewrites the import spec at index. It omits the name if the package's
// own name suffices, unless the user's import had a name.
func (f *File) respec(index int, p Package, local, name string) splice {
	spec := f.file.Imports[index]
	text := strconv.Quote(p.Path)
	if name != p.Name || spec.Name != nil && name == local {
		text = name + " " + text
	}
	return splice{f.offset(spec.Pos()), f.offset(spec.Path.End()), text}
}

// importedAs returns the name of another import of the same package, or "".
func (f *File) importedAs(path string, but int) string {
	for i, spec := range f.file.Imports {
		if name := f.localName(spec); i != but && importPath(spec) == path && name != "_" && name != "." {
			return name
		}
	}
	return ""
}

// importLine returns the splice that removes the line of an import spec. It
// returns false if the line contains anything else.
func (f *File) importLine(index int) (splice, bool) {
	spec := f.file.Imports[index]
	start, end := f.lineStart(f.offset(spec.Pos())), f.nextLine(f.offset(spec.End()))
	alone := f.startsLine(f.offset(spec.Pos())) && f.endOfLine(spec) == f.offset(spec.End()) && spec.Doc == nil
	return splice{start, end, ""}, alone
}

// selections returns the selectors in the file that refer to an import.
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

// dotted returns the packages of the file's free names.
func (f *File) dotted(to func(string) Package) []Package {
	var list []Package
	for name := range f.Free() {
		if p := to(name); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// lookup returns the object that an identifier denotes at its position, or nil
// if the file does not declare it.
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
