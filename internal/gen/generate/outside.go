package generate

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// moveErrors moves errors about types outside of the project to the fields of the project with these types. Nobody can
// correct the sources of Go or of other modules, where the library reports them.
func (g crdGenerator) moveErrors(p *crd.Parser) {
	broken, moved := map[crd.TypeIdent]string{}, map[crd.TypeIdent]bool{}
	for id := range p.Schemata {
		i := slices.IndexFunc(id.Package.Errors, func(e packages.Error) bool { return g.isAbout(e, p.Types[id]) })
		if i >= 0 && !g.own(id) {
			broken[id] = id.Package.Errors[i].Msg
		}
	}
	for id, schema := range p.Schemata {
		if len(broken) == 0 || !g.own(id) {
			continue
		}
		for _, to := range refsOf(schema, id) {
			reached := map[crd.TypeIdent]bool{}
			g.reach(p, to, reached)
			maps.DeleteFunc(reached, func(id crd.TypeIdent, _ bool) bool { return broken[id] == "" })
			causes := slices.SortedFunc(maps.Keys(reached), compareTypes)
			if len(causes) > 0 && g.atFields(p.Types[id], id.Package, to, broken[causes[0]]) {
				maps.Copy(moved, reached)
			}
		}
	}
	for id := range moved {
		id.Package.Errors = slices.DeleteFunc(id.Package.Errors, func(e packages.Error) bool { return g.isAbout(e, p.Types[id]) })
	}
}

// own reports whether the project declares a type.
func (g crdGenerator) own(id crd.TypeIdent) bool {
	if len(id.Package.GoFiles) == 0 {
		return false
	}
	_, is := overlay.Rel(g.src.Dir, id.Package.GoFiles[0])
	return is
}

// isAbout reports whether an error of a generator is about a type, by its position.
func (g crdGenerator) isAbout(e packages.Error, t *markers.TypeInfo) bool {
	if e.Kind != packages.UnknownError || t == nil || t.RawSpec == nil {
		return false
	}
	from, to := g.set.Fset.Position(t.RawSpec.Pos()), g.set.Fset.Position(t.RawSpec.End())
	place, isIn := strings.CutPrefix(e.Pos, from.Filename+":")
	first, _, _ := strings.Cut(place, ":")
	line, err := strconv.Atoi(first)
	return isIn && err == nil && from.Line <= line && line <= to.Line
}

// reach adds the types outside of the project that a type is or leads to.
func (g crdGenerator) reach(p *crd.Parser, id crd.TypeIdent, reached map[crd.TypeIdent]bool) {
	if id.Package == nil || reached[id] || g.own(id) {
		return
	}
	reached[id] = true
	for _, to := range refsOf(p.Schemata[id], id) {
		g.reach(p, to, reached)
	}
}

// atFields reports the fields in a type of the project that have a type without a schema.
func (g crdGenerator) atFields(in *markers.TypeInfo, pkg *loader.Package, to crd.TypeIdent, why string) (reported bool) {
	t := to.Package.Types.Scope().Lookup(to.Name)
	if in == nil || in.RawSpec == nil || t == nil {
		return false
	}
	err := fmt.Errorf("%s has no schema: %s; use a type of your own, or give the field the markers "+
		"+kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields", nameOf(t), why)
	if named, is := t.Type().(*types.Named); is && (copies{pkg, g.src}).uncopyable(named) {
		err = errUncopyable(named.Obj())
	}
	var at ast.Node
	ast.Inspect(in.RawSpec.Type, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if at = nil; len(n.Names) > 0 {
				at = n.Names[0]
			}
		case *ast.Ident:
			named, is := types.Unalias(pkg.TypesInfo.TypeOf(n)).(*types.Named)
			if is && named.Obj() == t && pkg.TypesInfo.Uses[n] != nil {
				if at == nil {
					at = n // of an embedded field, or of a type that is no struct
				}
				pkg.AddError(loader.ErrFromNode(err, at))
				reported = true
			}
		}
		return true
	})
	return reported
}
