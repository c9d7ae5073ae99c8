package generate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
)

// flattener makes the CRDs of kinds.
type flattener struct {
	crdGenerator
	parser *crd.Parser
	quick  *flatten.Flattener // nil where the library flattens
}

// flattener returns one that leaves the flattening of schemas to the library where
// errors are for the user to see.
func (g crdGenerator) flattener(p *crd.Parser) *flattener {
	f := &flattener{crdGenerator: g, parser: p}
	if g.known != nil {
		f.quick = &flatten.Flattener{Parser: p, MaxDescLen: g.MaxDescLen}
	}
	return f
}

// crd makes the CRD of a kind. Its schemas share parts with those of others.
func (f *flattener) crd(kind schema.GroupKind) apiextensionsv1.CustomResourceDefinition {
	roots := f.roots(kind)
	f.need(kind)
	attribute(f.parser, kind)
	c := f.parser.CustomResourceDefinitions[kind]
	for i, v := range c.Spec.Versions {
		if n, err := strconv.Atoi(v.Schema.OpenAPIV3Schema.ID); err == nil && n < len(roots) {
			c.Spec.Versions[i].Schema.OpenAPIV3Schema = roots[n]
		}
	}
	return c
}

// need has the library make the CRD of a kind. It takes the versions in the order
// of a map, and panics over one whose package has no types: the errors in the
// others are found all the same then, and each time.
func (f *flattener) need(kind schema.GroupKind) {
	versions := versionsOf(f.parser, kind)
	crash := recovered(func() { f.parser.NeedCRDFor(kind, f.MaxDescLen) })
	if crash == nil {
		return
	}
	for _, id := range versions {
		_ = recovered(func() { f.parser.NeedFlattenedSchemaFor(id) })
	}
	panic(crash)
}

// recovered is what a function panics with, or nil.
func recovered(f func()) (crash any) {
	defer func() { crash = recover() }()
	f()
	return nil
}

// attribute gives what the library says about all versions of a kind to the first
// package with one: it gives it to any of the group, and tells of versions by where
// they are in memory.
func attribute(p *crd.Parser, kind schema.GroupKind) {
	about := "CRD for " + kind.String() + " "
	var said []packages.Error
	for pkg, gv := range p.GroupVersions {
		if gv.Group != kind.Group || len(pkg.Errors) == 0 {
			continue
		}
		pkg.Errors = slices.DeleteFunc(pkg.Errors, func(e packages.Error) bool {
			is := e.Pos == pkg.ID+":-" && strings.HasPrefix(e.Msg, about)
			if is {
				said = append(said, e)
			}
			return is
		})
	}
	if len(said) == 0 {
		return
	}
	ids := versionsOf(p, kind)
	var names []string
	for _, id := range ids {
		names = append(names, p.GroupVersions[id.Package].Version)
	}
	first := ids[0].Package
	for _, e := range said {
		e.Pos = first.ID + ":-"
		if strings.Contains(e.Msg, "does not serve any version") {
			e.Msg = fmt.Sprintf("%swith version(s) %v does not serve any version", about, names)
		}
		first.Errors = append(first.Errors, e)
	}
}

// roots are the schemas of a kind in its versions. The parser gets their numbers in
// their place, for it would copy them. There are none where the library is to
// flatten them.
func (f *flattener) roots(kind schema.GroupKind) []*apiextensionsv1.JSONSchemaProps {
	if f.quick == nil {
		return nil
	}
	ids := versionsOf(f.parser, kind)
	roots := make([]*apiextensionsv1.JSONSchemaProps, len(ids))
	for i, id := range ids {
		var err error
		if roots[i], err = f.quick.Kind(id); err != nil {
			f.known.inexact = f.known.inexact || errors.Is(err, flatten.ErrCycle)
			return nil
		}
	}
	for i, id := range ids {
		f.parser.FlattenedSchemata[id] = apiextensionsv1.JSONSchemaProps{ID: strconv.Itoa(i)}
	}
	return roots
}
