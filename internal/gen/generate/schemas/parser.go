// Package schemas makes OpenAPI schemas from Go types, as controller-gen's generator crd
// does: the same schemas, and the same errors at the same positions.
//
// The schema of a type is raw: it refers to other types with $ref, and embeds types with
// allOf. Package flatten combines raw schemas into the schemas of kinds.
package schemas

import (
	"cmp"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Props is a schema.
type Props = apiextensionsv1.JSONSchemaProps

// Type identifies a Go type.
type Type struct {
	Package *loader.Package
	Name    string
}

// String returns the type as errors name it.
func (t Type) String() string { return fmt.Sprintf("%q.%s", t.Package.ID, t.Name) }

// Compare orders types by their packages and names.
func (t Type) Compare(other Type) int {
	return cmp.Or(cmp.Compare(t.Package.ID, other.Package.ID), cmp.Compare(t.Name, other.Name))
}

// Options change the schemas of single types.
type Options struct {
	DangerousTypes bool // floating-point numbers are allowed
	ExportedOnly   bool // fields that are not exported are skipped
	EmbeddedMeta   bool // a metav1.ObjectMeta below the root of a kind has properties
}

// Preset returns schemas of a package, by type. Unless others is true, the package has no
// other types.
type Preset func(*loader.Package) (schemas map[string]Props, others bool)

// Parser reads packages and makes the schemas of their types, each of them once. It adds
// errors to the packages.
type Parser struct {
	Collector *markers.Collector
	Checker   *loader.TypeChecker
	Options

	// Presets replace the schemas of packages, by import path without vendor folder.
	Presets map[string]Preset
	// Types, Schemas and Groups are what the parser found.
	Types   map[Type]*markers.TypeInfo
	Schemas map[Type]Props
	Groups  map[*loader.Package]schema.GroupVersion

	read map[*loader.Package]bool
}

// NewParser returns a parser that knows the types with special JSON in the libraries of
// Kubernetes.
func NewParser(c *markers.Collector, checker *loader.TypeChecker, o Options) *Parser {
	return &Parser{
		Collector: c, Checker: checker, Options: o,
		Presets: knownPackages(o.EmbeddedMeta),
		Types:   map[Type]*markers.TypeInfo{},
		Schemas: map[Type]Props{},
		Groups:  map[*loader.Package]schema.GroupVersion{},
		read:    map[*loader.Package]bool{},
	}
}

// Read reads the types of a package.
func (p *Parser) Read(pkg *loader.Package) {
	if p.read[pkg] {
		return
	}
	others := true
	if preset, ok := p.Presets[loader.NonVendorPath(pkg.PkgPath)]; ok {
		var all map[string]Props
		all, others = preset(pkg)
		for name, s := range all {
			p.Schemas[Type{pkg, name}] = s
		}
	}
	if others {
		p.index(pkg)
		p.Checker.Check(pkg)
	}
	p.read[pkg] = true
}

// index finds the types and the API group of a package.
func (p *Parser) index(pkg *loader.Package) {
	values, err := markers.PackageMarkers(p.Collector, pkg)
	switch {
	case err != nil:
		pkg.AddError(err)
	case values.Get("kubebuilder:skip") != nil:
		return
	default:
		p.Groups[pkg] = groupVersion(values, pkg)
	}
	if err := markers.EachType(p.Collector, pkg, func(info *markers.TypeInfo) {
		p.Types[Type{pkg, info.Name}] = info
	}); err != nil {
		pkg.AddError(err)
	}
}

// groupVersion returns the API group and version of a package. Without a marker, the
// version is the name of the package.
func groupVersion(values markers.MarkerValues, pkg *loader.Package) (gv schema.GroupVersion) {
	if group, ok := values.Get("groupName").(string); ok {
		gv = schema.GroupVersion{Group: group, Version: pkg.Name}
		if version, ok := values.Get("versionName").(string); ok {
			gv.Version = version
		}
	}
	return gv
}

// Schema returns the raw schema of a type. ok is false if there is none, which is an
// error of the package.
func (p *Parser) Schema(t Type) (s Props, ok bool) {
	p.Read(t.Package)
	if s, ok = p.Schemas[t]; ok {
		return s, true
	}
	info, ok := p.Types[t]
	if !ok {
		t.Package.AddError(fmt.Errorf("unknown type %s", t))
		return s, false
	}
	p.Schemas[t] = Props{} // for types that refer to themselves
	t.Package.NeedTypesInfo()
	values, err := markers.PackageMarkers(p.Collector, t.Package)
	if err != nil {
		t.Package.AddError(err)
	}
	c := converter{Parser: p, pkg: t.Package, info: info, optional: values.Get("kubebuilder:validation:Optional") != nil}
	s = *c.declared()
	p.Schemas[t] = s
	return s, true
}

// Versions returns the types of all versions of a kind, sorted.
func (p *Parser) Versions(kind schema.GroupKind) []Type {
	return slices.DeleteFunc(p.InGroup(kind), func(t Type) bool { return p.Types[t] == nil })
}

// InGroup returns the types that the versions of a kind would have in all packages of its
// group, sorted.
func (p *Parser) InGroup(kind schema.GroupKind) []Type {
	var all []Type
	for pkg, gv := range p.Groups {
		if gv.Group == kind.Group {
			all = append(all, Type{pkg, kind.Kind})
		}
	}
	slices.SortFunc(all, Type.Compare)
	return all
}
