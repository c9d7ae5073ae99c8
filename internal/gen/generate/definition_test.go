package generate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// TestErrorsOfAllVersions causes errors about a kind as a whole. The library adds them to
// an arbitrary package of the group. They must be in the first package that has the kind.
func TestErrorsOfAllVersions(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Group: "ship.example.org", Kind: "Frigate"}
	for range 20 { // maps have another order each time
		p := schemas.NewParser(nil, nil, schemas.Options{})
		said := map[string]*loader.Package{}
		for _, version := range []string{"v1", "v1beta1", "v2", "alone"} {
			pkg := &loader.Package{Package: &packages.Package{ID: "example.org/api/" + version, PkgPath: "example.org/api/" + version}}
			said[version] = pkg
			p.Groups[pkg] = schema.GroupVersion{Group: kind.Group, Version: version}
			if version == "alone" {
				continue // of the group, without the kind
			}
			p.Presets[pkg.PkgPath] = func(*loader.Package) (map[string]schemas.Props, bool) {
				return map[string]schemas.Props{kind.Kind: {Type: "object"}}, false
			}
			p.Types[schemas.Type{Package: pkg, Name: kind.Kind}] = &markers.TypeInfo{Name: kind.Kind, Markers: markers.MarkerValues{"unserved": {crdmarkers.UnservedVersion{}}}}
		}
		define(kind, &flatten.Flattener{Parser: p})
		want := []string{
			"example.org/api/v1:- CRD for Frigate.ship.example.org has no storage version",
			"example.org/api/v1:- CRD for Frigate.ship.example.org with version(s) [v1 v1beta1 v2] does not serve any version",
		}
		for version, pkg := range said {
			var got []string
			for _, e := range pkg.Errors {
				got = append(got, e.Pos+" "+e.Msg)
			}
			slices.Sort(got)
			if version != "v1" && len(got) > 0 {
				t.Errorf("%s has the errors %q", version, got)
			}
			if diff := cmp.Diff(want, got); version == "v1" && diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	}
}
