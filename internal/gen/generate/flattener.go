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
	quick  *flatten.Flattener // nil if the library flattens
}

// flattener returns a flattener, which uses the library if the run must report errors.
func (g crdGenerator) flattener(p *crd.Parser) *flattener {
	f := &flattener{crdGenerator: g, parser: p}
	if g.known != nil {
		f.quick = &flatten.Flattener{Parser: p, MaxDescLen: g.MaxDescLen}
	}
	return f
}

// crd returns the CRD of a kind. Its schemas share parts with those of other kinds.
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

// need makes the library create the CRD of a kind. The library processes the versions in
// map order, and panics for a version whose package has no types. In that case, need
// checks all versions, so that each run reports the same errors.
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

// recovered calls f and returns the value that it panics with, or nil.
func recovered(f func()) (crash any) {
	defer func() { crash = recover() }()
	f()
	return nil
}

// attribute moves errors about all versions of a kind to the first package that has a
// version. The library adds them to an arbitrary package of the group, and prints the
// versions as pointers.
func attribute(p *crd.Parser, kind schema.GroupKind) {
	about := "CRD for " + kind.String() + " "
	var errs []packages.Error
	for pkg, gv := range p.GroupVersions {
		if gv.Group != kind.Group || len(pkg.Errors) == 0 {
			continue
		}
		pkg.Errors = slices.DeleteFunc(pkg.Errors, func(e packages.Error) bool {
			is := e.Pos == pkg.ID+":-" && strings.HasPrefix(e.Msg, about)
			if is {
				errs = append(errs, e)
			}
			return is
		})
	}
	if len(errs) == 0 {
		return
	}
	ids := versionsOf(p, kind)
	var names []string
	for _, id := range ids {
		names = append(names, p.GroupVersions[id.Package].Version)
	}
	first := ids[0].Package
	for _, e := range errs {
		e.Pos = first.ID + ":-"
		if strings.Contains(e.Msg, "does not serve any version") {
			e.Msg = fmt.Sprintf("%swith version(s) %v does not serve any version", about, names)
		}
		first.Errors = append(first.Errors, e)
	}
}

// roots returns the flattened schemas of a kind's versions. The parser would copy the
// schemas, so roots gives it their indexes instead. It returns nil if the library must
// flatten the kind.
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
