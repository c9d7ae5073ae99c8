package depcache

import (
	"errors"
	"slices"

	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

var errLacking = errors.New("the cache does not have this part of the package")

// Override makes a parser use the schemas of cached packages in the world, which include
// those that the parser knows. Call it after the roots are parsed. kinds
// are the kinds in the roots: the parser would search other packages of the same groups
// for more versions, which the world does not have.
func (w *World) Override(parser *schemas.Parser, kinds []schema.GroupKind) {
	if w == nil {
		return
	}
	for path := range w.preset {
		e := w.used[path]
		parser.Presets[loader.NonVendorPath(path)] = func(p *loader.Package) (map[string]schemas.Props, bool) {
			all, ok := w.decoded[path]()
			ofKind := e.Grouped && slices.ContainsFunc(kinds, func(k schema.GroupKind) bool { return k.Group == e.Group })
			if !ok || ofKind {
				p.AddError(errLacking)
			}
			return all, false
		}
	}
}

// Collect adds the schemas and groups that a parser found to the world.
func (w *World) Collect(parser *schemas.Parser) {
	if w == nil {
		return
	}
	for id, s := range parser.Schemas {
		path := id.Package.PkgPath
		if w.schemas[path] == nil {
			w.schemas[path] = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		w.schemas[path][id.Name] = s
	}
	for p, gv := range parser.Groups {
		w.groups[p.PkgPath] = gv.Group
	}
}

func (w *World) group(path string) (group string, ok bool) {
	group, ok = w.groups[path]
	return group, ok
}
