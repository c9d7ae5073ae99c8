package flatten

import (
	"slices"

	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Embedded returns the schema s of a type with the fields of the structs that it embeds. References
// of fields stay.
func Embedded(p *schemas.Parser, t schemas.Type, s schemas.Props) schemas.Props {
	embed(p, t.Package, &s)
	m := merger{kind: t.Package, known: map[[2]uintptr]properties{}}
	m.whole(&s)
	return s
}

// embed replaces the references in allOf by the schemas of the types.
func embed(p *schemas.Parser, pkg *loader.Package, s *props) {
	s.AllOf = slices.Clone(s.AllOf)
	for i, part := range s.AllOf {
		if part.Ref == nil || *part.Ref == "" {
			continue
		}
		id := schemas.Referred(*part.Ref, pkg)
		if id.Package == nil {
			pkg.AddError(missing(id))
			continue
		}
		t, ok := p.Schema(id)
		if !ok {
			pkg.AddError(missing(id))
			continue
		}
		embed(p, id.Package, &t)
		if id.Package != pkg {
			fromElsewhere(&t, id.Package)
		}
		s.AllOf[i] = t
	}
	schemas.Parts(s, func(part *props) { embed(p, pkg, part) })
}

// fromElsewhere adds the path of a package to the references of a schema to its own types.
func fromElsewhere(s *props, pkg *loader.Package) {
	if s.Ref != nil && *s.Ref != "" {
		if path, name := schemas.SplitRef(*s.Ref); path == "" {
			s.Ref = new(schemas.Ref(pkg.PkgPath, name))
		}
	}
	schemas.Parts(s, func(part *props) { fromElsewhere(part, pkg) })
}
