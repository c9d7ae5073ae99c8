package schemas

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// converter makes the schema of one declared type, or of a type expression in it.
type converter struct {
	*Parser
	pkg      *loader.Package
	info     *markers.TypeInfo // empty for an expression
	optional bool              // the package makes fields optional by default
}

func (c converter) of(info *markers.TypeInfo) converter {
	c.info = info
	return c
}

func (c converter) fail(node ast.Node, err error) *Props {
	c.pkg.AddError(loader.ErrFromNode(err, node))
	return &Props{}
}

// declared returns the schema of the declared type. The markers of a type with MarshalJSON
// must set its type, or else its fields count. A type with MarshalText is a string.
func (c converter) declared() *Props {
	spec := c.info.RawSpec.Type
	obj := c.pkg.Types.Scope().Lookup(c.info.Name)
	switch {
	case obj == nil:
	case implements(obj.Type(), jsonMarshaler()):
		s := &Props{}
		if c.apply(c.info.Markers, s, spec); s.Type != "" {
			return s
		}
	case implements(obj.Type(), textMarshaler()):
		s := &Props{Type: "string"}
		if c.apply(c.info.Markers, s, spec); s.Type != "string" {
			c.fail(spec, fmt.Errorf("%q implements encoding.TextMarshaler but schema type is not string: %q", c.info.RawSpec.Name, s.Type))
		}
		return s
	}
	return c.schema(spec)
}

// schema returns the schema of a type expression, with the documentation and the markers
// of the declared type if the expression is its definition.
func (c converter) schema(expr ast.Expr) *Props {
	var s *Props
	switch e := expr.(type) {
	case *ast.Ident:
		s = c.local(e)
	case *ast.SelectorExpr:
		s = c.imported(e)
	case *ast.ArrayType:
		s = c.array(e)
	case *ast.MapType:
		s = c.mapping(e)
	case *ast.StarExpr:
		s = c.part(e.X)
	case *ast.StructType:
		s = c.object(e)
	case *ast.InterfaceType:
		return c.fail(expr, errors.New("interface type is not supported in CRD schemas; consider using an explicit type or apiextensionsv1.JSON instead"))
	default:
		return c.fail(expr, fmt.Errorf("unsupported AST kind %T", e))
	}
	s.Description = c.info.Doc
	c.apply(c.info.Markers, s, expr)
	return s
}

// part returns the schema of an expression that is part of another.
func (c converter) part(expr ast.Expr) *Props { return c.of(&markers.TypeInfo{}).schema(expr) }

// local returns the schema of a type that is named without a package: a basic type, or a
// reference. Because of dot imports, the type may be in another package.
func (c converter) local(ident *ast.Ident) *Props {
	typ := c.pkg.TypesInfo.TypeOf(ident)
	if typ == types.Typ[types.Invalid] {
		return c.fail(ident, fmt.Errorf("unknown type %s", ident.Name))
	}
	if alias, ok := typ.(*types.Alias); ok {
		typ = alias.Rhs()
	}
	switch t := typ.(type) {
	case *types.Basic:
		s := c.basic(t, ident)
		if t.Name() != ident.Name { // an alias
			s.Ref = c.refer(Type{c.pkg, ident.Name}, "")
		}
		return s
	case *types.Interface:
		return c.fail(ident, fmt.Errorf("cannot generate schema for %s; interface type is not supported in CRD schemas, consider using an explicit type or apiextensionsv1.JSON instead", ident.Name))
	case interface{ Obj() *types.TypeName }:
		s := c.named(t.Obj())
		switch types.Unalias(typ).Underlying().(type) {
		case *types.Slice:
			s.Type = "array"
		case *types.Map:
			s.Type = "object"
		case *types.Basic:
			is := c.of(c.Types[Type{c.pkg, t.Obj().Name()}]).declared()
			s.Type, s.Format = is.Type, is.Format
		}
		return s
	}
	return c.fail(ident, fmt.Errorf("unsupported type %T for identifier %s", typ, ident.Name))
}

// imported returns the schema of a type that is named with a package.
func (c converter) imported(expr *ast.SelectorExpr) *Props {
	typ := c.pkg.TypesInfo.TypeOf(expr)
	if typ == types.Typ[types.Invalid] {
		return c.fail(expr, fmt.Errorf("unknown type %v.%s", expr.X, expr.Sel.Name))
	}
	if _, ok := typ.(*types.Interface); ok {
		return c.fail(expr, fmt.Errorf("cannot generate schema for %v.%s; interface type is not supported in CRD schemas, consider using an explicit type or apiextensionsv1.JSON instead", expr.X, expr.Sel.Name))
	}
	s := c.named(typ.(interface{ Obj() *types.TypeName }).Obj())
	switch typ.Underlying().(type) {
	case *types.Slice:
		s.Type = "array"
	case *types.Map:
		s.Type = "object"
	}
	return s
}

// named returns a reference to a type. A marker of a field may depend on the JSON type,
// so the caller sets it, except for structs.
func (c converter) named(name *types.TypeName) *Props {
	if name.Pkg() == c.pkg.Types {
		return &Props{Ref: c.refer(Type{c.pkg, name.Name()}, "")}
	}
	path := loader.NonVendorPath(name.Pkg().Path())
	pkg := c.pkg.Imports()[path]
	if pkg == nil {
		pkg = imports(c.pkg, path)
	}
	return &Props{Ref: c.refer(Type{pkg, name.Name()}, path)}
}

// refer makes the schema of a type in a package with a path, and returns a reference to it.
func (c converter) refer(t Type, path string) *string {
	if t.Package == nil {
		c.pkg.AddError(fmt.Errorf("unable to find package %q for type %s (not in direct imports)", path, t.Name))
	} else {
		c.Schema(t)
	}
	return new(Ref(path, t.Name))
}

// imports returns the package with a path that another depends on, or nil.
func imports(from *loader.Package, path string) *loader.Package {
	seen := map[*loader.Package]bool{}
	for next := []*loader.Package{from}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		for as, pkg := range next[0].Imports() {
			if loader.NonVendorPath(as) == path {
				return pkg
			}
			next = append(next, pkg)
		}
	}
	return nil
}

func (c converter) array(expr *ast.ArrayType) *Props {
	if expr.Len == nil && c.pkg.TypesInfo.TypeOf(expr.Elt) == types.Universe.Lookup("byte").Type() {
		return &Props{Type: "string", Format: "byte"}
	}
	return &Props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: c.part(expr.Elt)}}
}

func (c converter) mapping(expr *ast.MapType) *Props {
	key := c.pkg.TypesInfo.TypeOf(expr.Key)
	if odd := notText(key); odd != nil {
		return c.fail(expr.Key, fmt.Errorf("map keys must be strings or implement encoding.TextMarshaler, not %s", odd))
	}
	switch expr.Value.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.StarExpr, *ast.MapType:
	case *ast.InterfaceType:
		return c.fail(expr.Value, errors.New("interface type is not supported as map value in CRD schemas; consider using an explicit type or apiextensionsv1.JSON instead"))
	default:
		return c.fail(expr.Value, fmt.Errorf("not a supported map value type: %T", expr.Value))
	}
	return &Props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: c.part(expr.Value)}}
}

// notText returns the type that makes a type unusable as the key of a JSON object, or nil.
func notText(key types.Type) types.Type {
	under := key
	if named, ok := key.(*types.Named); ok {
		under = named.Underlying()
	}
	if basic, ok := under.(*types.Basic); under == nil || ok && basic.Info()&types.IsString != 0 || implements(key, textMarshaler()) {
		return nil
	}
	return under
}

// basic returns the schema of a basic type. The formats are those of OpenAPI 3.
func (c converter) basic(t *types.Basic, node ast.Node) *Props {
	s := &Props{}
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		s.Type = "boolean"
	case info&types.IsString != 0:
		s.Type = "string"
	case info&types.IsInteger != 0:
		s.Type = "integer"
	case info&types.IsFloat == 0:
		return c.fail(node, fmt.Errorf("unsupported type %q", t))
	case !c.DangerousTypes:
		return c.fail(node, errors.New("found float, the usage of which is highly discouraged, as support for them varies across languages. Please consider serializing your float as string instead. If you are really sure you want to use them, re-run with crd:allowDangerousTypes=true"))
	default:
		s.Type = "number"
	}
	switch t.Kind() {
	case types.Int32, types.Uint32:
		s.Format = "int32"
	case types.Int64, types.Uint64:
		s.Format = "int64"
	}
	return s
}

var (
	jsonMarshaler = sync.OnceValue(func() *types.Interface { return marshaler("MarshalJSON") })
	textMarshaler = sync.OnceValue(func() *types.Interface { return marshaler("MarshalText") })
)

// marshaler returns the interface with a method that returns bytes and an error.
func marshaler(method string) *types.Interface {
	result := func(t types.Type) *types.Var { return types.NewParam(token.NoPos, nil, "", t) }
	results := types.NewTuple(result(types.NewSlice(types.Universe.Lookup("byte").Type())), result(types.Universe.Lookup("error").Type()))
	f := types.NewFunc(token.NoPos, nil, method, types.NewSignatureType(nil, nil, nil, nil, results, false))
	return types.NewInterfaceType([]*types.Func{f}, nil).Complete()
}

// implements reports whether a type or a pointer to it implements an interface.
func implements(t types.Type, i *types.Interface) bool {
	return types.Implements(t, i) || types.Implements(types.NewPointer(t), i)
}
