package generate

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
)

const ruleInvalidCRD = "invalid-crd" // API servers refuse a CRD

// refusals returns why API servers refuse a CRD.
func refusals(c apiextensionsv1.CustomResourceDefinition) (all []record.Refusal) {
	if c.Spec.Group == "" {
		return nil // another warning says that the group is missing
	}
	for _, err := range crdschema.Refused(c) {
		version, path := schemaPath(err.Field)
		r := record.Refusal{Path: path, Reason: crdschema.Reason(err)}
		if version < len(c.Spec.Versions) {
			r.Version = c.Spec.Versions[version].Name
		}
		all = append(all, r)
	}
	return all
}

// warnRefused warns about each reason why API servers refuse the CRD of a kind, at the user's field.
func (g crdGenerator) warnRefused(p *crd.Parser, kind schema.GroupKind, versions []crd.TypeIdent, all []record.Refusal) {
	for i, r := range all {
		at := slices.IndexFunc(versions, func(id crd.TypeIdent) bool { return p.GroupVersions[id.Package].Version == r.Version })
		id := versions[max(at, 0)]
		pos, words := locate(p, id, r.Path)
		reason := strings.Join(append(words, r.Reason), ": ")
		w := scaffold.Warning{Rule: ruleInvalidCRD, Message: "API servers refuse the CRD of " + kind.Kind + ": " + reason}
		if pos.IsValid() {
			w.File, w.Line, w.Column = g.place(g.set.Fset.Position(pos))
		}
		all[i].Warning = w
		g.warn(w)
	}
	*g.known.refusals(kind) = all
}

// place returns a position relative to the project, if it is there.
func (g crdGenerator) place(p token.Position) (file string, line, column int) {
	if rel, ok := overlay.Rel(g.src.Dir, p.Filename); ok {
		return rel, p.Line, p.Column
	}
	return filepath.ToSlash(p.Filename), p.Line, p.Column
}

// schemaOf matches the start of the field of an error in a schema.
var schemaOf = lazyregexp.New(`^spec\.(?:validation|versions\[(\d+)\]\.schema)\.openAPIV3Schema\.?`)

// schemaPath returns the index of the version, and the rest of the field within its schema, or all of a field elsewhere.
func schemaPath(of string) (version int, rest string) {
	m := schemaOf().FindStringSubmatchIndex(of)
	if m == nil {
		return 0, of
	}
	if m[2] >= 0 {
		version, _ = strconv.Atoi(of[m[2]:m[3]]) // digits
	}
	return version, of[m[1]:]
}

// step matches the next step of a path in a schema: to a property, or to the values of a list or map.
var step = lazyregexp.New(`^(?:properties\[([^\]]+)\]|items|additionalProperties)(?:\.|$)`)

// locate follows a path in the schema of a type through the types of the project. It returns the position of the last
// field or type on it. words are the JSON path of the value, and the rest of the path, unless empty.
func locate(p *crd.Parser, id crd.TypeIdent, path string) (pos token.Pos, words []string) {
	var t ast.Expr
	info := p.LookupType(id.Package, id.Name)
	known := info != nil && info.RawSpec != nil // else the type is in the cache of dependencies
	if known {
		pos, t = info.RawSpec.Pos(), info.RawSpec.Name
	}
	value := ""
	for m := step().FindStringSubmatch(path); m != nil; m = step().FindStringSubmatch(path) {
		path = path[len(m[0]):]
		switch {
		case m[1] != "":
			value = strings.TrimPrefix(value+"."+m[1], ".")
		default:
			value += "[]"
		}
		if !known {
			continue
		}
		var f *ast.Field
		if id, t, f, known = follow(p, id, t, m[1], map[crd.TypeIdent]bool{}); f != nil {
			pos = f.Pos()
		}
	}
	for _, word := range []string{value, strings.TrimSuffix(path, ".")} {
		if word != "" {
			words = append(words, word)
		}
	}
	return pos, words
}

// follow returns the type of a field of a struct, by its JSON name, or of the elements of a list or map if name is
// empty. The type t is written in the declaration of id, whose file has its imports. f is the field. seen are the
// types on the way: a struct can embed itself.
func follow(
	p *crd.Parser, id crd.TypeIdent, t ast.Expr, name string, seen map[crd.TypeIdent]bool,
) (_ crd.TypeIdent, _ ast.Expr, f *ast.Field, ok bool) {
	switch x := t.(type) {
	case *ast.StarExpr:
		return follow(p, id, x.X, name, seen)
	case *ast.ArrayType:
		return id, x.Elt, nil, name == ""
	case *ast.MapType:
		return id, x.Value, nil, name == ""
	case *ast.Ident:
		to := crd.TypeIdent{Package: id.Package, Name: x.Name}
		if info := p.LookupType(to.Package, to.Name); info != nil && info.RawSpec != nil && !seen[to] {
			seen[to] = true
			return follow(p, to, info.RawSpec.Type, name, seen)
		}
	case *ast.SelectorExpr:
		pkg, isName := x.X.(*ast.Ident)
		if !isName {
			return id, nil, nil, false
		}
		for imported, other := range id.Package.Imports() {
			info := p.LookupType(other, x.Sel.Name)
			if info != nil && info.RawSpec != nil && (other.Name == pkg.Name || importedAs(p, id, imported, pkg.Name)) {
				return follow(p, crd.TypeIdent{Package: other, Name: x.Sel.Name}, info.RawSpec.Name, name, seen)
			}
		}
	case *ast.StructType:
		for _, f := range x.Fields.List {
			key, options := jsonKey(f)
			if key == name && key != "" {
				return id, f.Type, f, true
			}
			if key == "" && (len(f.Names) == 0 || strings.Contains(options, "inline")) {
				if id, t, f, ok := follow(p, id, f.Type, name, seen); ok {
					return id, t, f, true
				}
			}
		}
	}
	return id, nil, nil, false
}

// importedAs reports whether the file of a type imports a package under a name.
func importedAs(p *crd.Parser, id crd.TypeIdent, path, name string) bool {
	info := p.LookupType(id.Package, id.Name)
	return info != nil && slices.ContainsFunc(info.RawFile.Imports, func(s *ast.ImportSpec) bool {
		return s.Name != nil && s.Name.Name == name && s.Path.Value == strconv.Quote(path)
	})
}

// jsonKey returns the name and the options of a field's JSON tag.
func jsonKey(f *ast.Field) (name, options string) {
	if f.Tag == nil {
		return "", ""
	}
	tag, _ := strconv.Unquote(f.Tag.Value) // the parser checked it
	name, options, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name, options
}
