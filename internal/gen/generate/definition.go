package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"github.com/operon-dev/operon/internal/plural"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

type definition = apiextensionsv1.CustomResourceDefinition

// define returns the CRD of a kind. Its schemas share parts with those of other kinds. It
// is empty if markers skip all versions. Errors about all versions are added to the first
// package that has the kind.
func define(kind schema.GroupKind, f *flatten.Flattener) definition {
	types := f.Parser.Versions(kind)
	c := newDefinition(kind)
	for _, s := range flattened(types, f) {
		c.Spec.Versions = append(c.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: f.Parser.Groups[types[len(c.Spec.Versions)].Package].Version, Served: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s},
		})
	}
	for _, t := range types {
		mark(&c, t, f.Parser)
	}
	c.Name = c.Spec.Names.Plural + "." + kind.Group
	versions := c.Spec.Versions
	if len(versions) == 0 {
		return definition{}
	}
	slices.SortStableFunc(versions, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int { return strings.Compare(a.Name, b.Name) })
	if len(versions) == 1 {
		versions[0].Storage = true
	}
	var stored, served bool
	for _, v := range versions {
		stored, served = stored || v.Storage, served || v.Served
	}
	if !stored {
		types[0].Package.AddError(fmt.Errorf("CRD for %s has no storage version", kind))
	}
	if !served {
		var names []string
		for _, t := range types {
			names = append(names, f.Parser.Groups[t.Package].Version)
		}
		types[0].Package.AddError(fmt.Errorf("CRD for %s with version(s) %v does not serve any version", kind, names))
	}
	return c
}

// newDefinition returns the CRD of a kind without markers and versions.
func newDefinition(kind schema.GroupKind) definition {
	return definition{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: kind.Kind, ListKind: kind.Kind + "List",
				Plural: strings.ToLower(plural.Of(kind.Kind)), Singular: strings.ToLower(kind.Kind),
			},
			Scope: apiextensionsv1.NamespaceScoped,
		},
	}
}

// flattened returns the schemas of types. The parser panics for a type whose package does
// not type-check; the others are parsed as well, so that all errors are reported.
func flattened(types []schemas.Type, f *flatten.Flattener) []*schemas.Props {
	all := make([]*schemas.Props, len(types))
	var crash any
	for i, t := range types {
		if c := recovered(func() { all[i] = rootOf(t, f) }); crash == nil {
			crash = c
		}
	}
	if crash != nil {
		panic(crash)
	}
	return all
}

// recovered calls f and returns the value that it panics with, or nil.
func recovered(f func()) (crash any) {
	defer func() { crash = recover() }()
	f()
	return nil
}

// rootOf returns the schema of a version of a kind. API servers have their own schema of
// its metadata.
func rootOf(t schemas.Type, f *flatten.Flattener) *schemas.Props {
	s := f.Kind(t)
	if _, ok := s.Properties["metadata"]; ok {
		s.Properties["metadata"] = schemas.Props{Type: "object"}
	}
	return s
}

// mark applies the markers of a version of a kind to its CRD. skipversion is the last,
// because others change the version that it removes.
func mark(c *definition, t schemas.Type, p *schemas.Parser) {
	info, version := p.Types[t], p.Groups[t.Package].Version
	names := slices.Sorted(maps.Keys(info.Markers))
	if i := slices.Index(names, "kubebuilder:skipversion"); i >= 0 {
		names = append(slices.Delete(names, i, i+1), "kubebuilder:skipversion")
	}
	for _, name := range names {
		for _, v := range info.Markers[name] {
			var err error
			switch m := v.(type) {
			case interface {
				ApplyToCRD(*apiextensionsv1.CustomResourceDefinitionSpec, string) error
			}:
				err = m.ApplyToCRD(&c.Spec, version)
			case interface {
				ApplyToCRD(*definition, string) error
			}:
				err = m.ApplyToCRD(c, version)
			}
			if err != nil {
				t.Package.AddError(loader.ErrFromNode(err, info.RawSpec))
			}
		}
	}
}

// unsupported returns the error for a version of the API of CRDs other than v1, or nil.
func unsupported(versions []string) error {
	for _, v := range versions {
		gv := schema.GroupVersion{Group: apiextensionsv1.GroupName, Version: v}
		switch v {
		case apiextensionsv1.SchemeGroupVersion.Version:
		case "v1beta1":
			return fmt.Errorf("apiVersion %q is not supported", gv)
		default:
			return runtime.NewNotRegisteredErrForKind(runtime.NewScheme().Name(), gv.WithKind("CustomResourceDefinition"))
		}
	}
	return nil
}
