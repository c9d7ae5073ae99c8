package generate

import (
	"go/ast"
	"go/token"
	"maps"

	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// ScanMarkers reads the markers of packages, in their order. It changes comments while it runs.
func ScanMarkers(packages [][]*ast.File, fset *token.FileSet, src *overlay.Project) []marker.Scan {
	known := marker.NewVocabulary(maps.Values(request.Generators()))
	return known.All(packages, fset, func(name string) (string, bool) { return overlay.Rel(src.Dir, name) })
}
