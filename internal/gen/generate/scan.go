package generate

import (
	"maps"

	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// ScanMarkers reads the markers of the roots, in their order.
func ScanMarkers(s *load.Set, src *overlay.Project) []marker.Scan {
	known := marker.NewVocabulary(maps.Values(request.Generators()))
	return known.All(s.Roots, s.Fset, func(name string) (string, bool) { return overlay.Rel(src.Dir, name) })
}
