package convert

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// typeForm is the form of a goType.
type typeForm int

const (
	opaque   typeForm = iota // unknown or not convertible: interfaces, functions, generics
	basic                    // predeclared
	external                 // declared in another package
	local                    // declared in the spoke or the hub
	pointer
	slice
	array
	mapping
	structure
)

// goType is a type, as far as its syntax determines it.
type goType struct {
	form   typeForm
	name   string // of a basic, external or local type; the length of an array
	path   string // package path of an external or local type
	as     string // package name in the importing file, for an external type
	key    *goType
	elem   *goType
	fields []goField
	source string // type of a field, as written in its package
}

// goField is a field of a struct. An embedded field has the name of its type.
type goField struct {
	name string
	typ  *goType
}

// predeclared maps the predeclared aliases to their types.
var predeclared = map[string]string{"byte": "uint8", "rune": "int32"}

// typeReader resolves type expressions of packages, by import path.
type typeReader map[string]*Package

// resolve resolves e, an expression in a file of pkg. aliases are the aliases that led to e:
// they stop the recursion if an alias refers to itself.
func (r typeReader) resolve(pkg *Package, file *ast.File, e ast.Expr, aliases []string) *goType {
	inner := func(form typeForm, e ast.Expr) *goType {
		return &goType{form: form, elem: r.resolve(pkg, file, e, aliases)}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.resolve(pkg, file, e.X, aliases)
	case *ast.Ident:
		return r.named(pkg, e.Name, aliases)
	case *ast.SelectorExpr:
		return r.selected(file, e, aliases)
	case *ast.StarExpr:
		return inner(pointer, e.X)
	case *ast.ArrayType:
		if e.Len == nil {
			return inner(slice, e.Elt)
		}
		if n, ok := e.Len.(*ast.BasicLit); ok && n.Kind == token.INT {
			t := inner(array, e.Elt)
			t.name = n.Value
			return t
		}
	case *ast.MapType:
		t := inner(mapping, e.Value)
		t.key = r.resolve(pkg, file, e.Key, aliases)
		return t
	case *ast.StructType:
		return &goType{form: structure, fields: r.fields(pkg, file, e, aliases)}
	case *ast.InterfaceType:
		if e.Methods == nil || len(e.Methods.List) == 0 {
			return &goType{form: basic, name: "any"}
		}
	}
	return &goType{}
}

// named resolves an unqualified name.
func (r typeReader) named(pkg *Package, name string, aliases []string) *goType {
	decl, ok := pkg.Types[name]
	switch {
	case ok && decl.spec.TypeParams != nil:
		return &goType{}
	case ok && decl.spec.Assign.IsValid():
		alias := pkg.Path + "." + name
		if slices.Contains(aliases, alias) {
			return &goType{}
		}
		return r.resolve(pkg, decl.syntax, decl.spec.Type, append(slices.Clone(aliases), alias))
	case ok:
		return &goType{form: local, name: name, path: pkg.Path}
	case pkg.Declared[name]:
		return &goType{}
	}
	if own, ok := predeclared[name]; ok {
		name = own
	}
	if _, ok := types.Universe.Lookup(name).(*types.TypeName); ok && name != "comparable" {
		return &goType{form: basic, name: name}
	}
	return &goType{} // from a dot import
}

// selected resolves a qualified name.
func (r typeReader) selected(file *ast.File, e *ast.SelectorExpr, aliases []string) *goType {
	x, ok := e.X.(*ast.Ident)
	if !ok {
		return &goType{}
	}
	at := imported(file, x.Name)
	if at == "" {
		return &goType{}
	}
	if pkg := r[at]; pkg != nil {
		return r.named(pkg, e.Sel.Name, aliases)
	}
	return &goType{form: external, name: e.Sel.Name, path: at, as: x.Name}
}

// imported returns the path of the package that file calls name, or "". For an import without
// a name it guesses the package name from the path.
func imported(file *ast.File, name string) string {
	found, suggested := "", 0
	for _, spec := range file.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case spec.Name != nil && spec.Name.Name == name:
			return at
		case spec.Name == nil && strings.Contains(strings.NewReplacer("-", "", ".", "").Replace(at), name):
			found = at
			suggested++
		}
	}
	if suggested != 1 {
		return unnamedImport(file, name)
	}
	return found
}

// unnamedImport returns the first import without a name whose path ends in name, or "".
func unnamedImport(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		if at, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name == nil && path.Base(at) == name {
			return at
		}
	}
	return ""
}

func (r typeReader) fields(pkg *Package, file *ast.File, s *ast.StructType, aliases []string) []goField {
	var fields []goField
	for _, f := range s.Fields.List {
		t := r.resolve(pkg, file, f.Type, aliases)
		t.source = types.ExprString(f.Type)
		if len(f.Names) == 0 {
			fields = append(fields, goField{embedded(f.Type), t})
		}
		for _, id := range f.Names {
			fields = append(fields, goField{id.Name, t})
		}
	}
	return fields
}

// embedded returns the field name of an embedded type.
func embedded(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return embedded(e.X)
	case *ast.ParenExpr:
		return embedded(e.X)
	case *ast.IndexExpr:
		return embedded(e.X)
	case *ast.IndexListExpr:
		return embedded(e.X)
	}
	return "_"
}

// under returns the underlying type of a local type.
func (r typeReader) under(t *goType) *goType {
	seen := map[string]bool{}
	for !seen[t.identity()] {
		if t.form != local {
			return t
		}
		seen[t.identity()] = true
		decl := r[t.path].Types[t.name]
		t = r.resolve(r[t.path], decl.syntax, decl.spec.Type, nil)
	}
	return &goType{}
}

// identity returns a key that is equal for identical types, or "" if identity is unknown.
// Anonymous structs have no identity: their fields are compared one by one.
func (t *goType) identity() string {
	switch t.form {
	case basic:
		return t.name
	case external, local:
		return strconv.Quote(t.path) + "." + t.name
	case pointer, slice, array:
		if elem := t.elem.identity(); elem != "" {
			return map[typeForm]string{pointer: "*", slice: "[]", array: "[" + t.name + "]"}[t.form] + elem
		}
	case mapping:
		key, elem := t.key.identity(), t.elem.identity()
		if key != "" && elem != "" {
			return "map[" + key + "]" + elem
		}
	}
	return ""
}
