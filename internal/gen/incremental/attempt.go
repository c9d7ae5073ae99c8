package incremental

import (
	"context"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/record"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// attempt is one load of the dirty packages and one run of the generators over them.
type attempt struct {
	Set     *load.Set
	Loaded  *golist.Loaded         // nil if no package is dirty
	kinds   *generate.Kinds        // nil if the run cannot be recorded
	scanned map[string]marker.Scan // of the loaded roots, by import path
	// sameMarkers means that the outputs for the markers of all roots are up to date.
	sameMarkers bool
	Made        *generate.Result // nil if the generators did not run
	Err         error
}

// Try loads the dirty roots and runs the generators over them. With explain, the library
// does every step that may find an error, as after loading with the loader alone.
// Unchanged packages had no errors, and do not refer to changed ones.
func (u *update) Try(ctx context.Context, explain bool) *attempt {
	a := &attempt{Set: &load.Set{Fset: token.NewFileSet()}}
	if u.none == "" && !explain {
		a.kinds = generate.NewKinds(u.knownKinds(), func(path string) bool {
			p := u.graph.Package(path)
			return p == nil || !p.External()
		})
	}
	a.scanned = map[string]marker.Scan{}
	var scanning sync.WaitGroup // next to reading and checking types, which do not need comments
	defer scanning.Wait()
	if roots := u.DirtyRoots(); len(roots) > 0 {
		scan := func(files [][]*ast.File) {
			scanning.Go(func() {
				for i, s := range generate.ScanMarkers(files, a.Set.Fset, u.src) {
					a.scanned[roots[i].ImportPath] = s
				}
			})
		}
		if a.Loaded, a.Err = u.Load(ctx, a.Set, roots, scan, explain); a.Err != nil {
			return a
		}
	}
	t := generate.Task{Set: a.Set, Kinds: a.kinds, MarkerRoots: func() (roots []*loader.Package, needed bool, err error) {
		scanning.Wait()
		if a.sameMarkers = u.sameMarkers(a.scanned); a.sameMarkers {
			return nil, false, nil
		}
		roots, err = u.withMarkers(a.Set)
		return roots, true, err
	}}
	a.Made, a.Err = generate.Run(ctx, t, u.Job.Generators, u.src)
	if a.Loaded != nil && a.Loaded.Strayed() {
		a.Err = golist.Inexact("a generator reads a package that no type refers to") // any other error is unreliable
	}
	return a
}

// Load loads roots into the set, with the packages that their types refer to. scan gets the syntax of the
// roots meanwhile.
func (u *update) Load(
	ctx context.Context, set *load.Set, roots []*golist.Package, scan func([][]*ast.File), explain bool,
) (*golist.Loaded, error) {
	temp, err := u.src.TempDir()
	if err != nil {
		return nil, err
	}
	set.Deps = u.Library.world(set.Fset)
	loaded, err := u.graph.Of(roots).Load(ctx, golist.Loading{
		Fset:    set.Fset,
		Read:    counted(progress.From(ctx), u.read),
		Filters: generate.CheckFilters(u.Job.Generators),
		Broken:  explain,
		Deps:    set.Deps,
		Parsed:  scan,
		Temp:    temp,
	})
	if err != nil {
		return nil, err
	}
	set.Roots = loaded.Roots
	return loaded, nil
}

// read reads a source.
func (u *update) read(name string) ([]byte, error) {
	if u.graph.External(filepath.Dir(name)) {
		return u.src.Read(name)
	}
	return u.sources.Read(name)
}

// knownKinds returns the kinds whose CRDs on the disk are as generated.
func (u *update) knownKinds() map[schema.GroupKind]record.Kind {
	known := map[schema.GroupKind]record.Kind{}
	for _, k := range u.last.Kinds {
		if k.Key != (record.Sum{}) && !slices.ContainsFunc(k.Outputs, u.outdated) {
			known[schema.GroupKind{Group: k.Group, Kind: k.Kind}] = k
		}
	}
	return known
}

// sameMarkers reports whether the outputs for the markers of all roots are up to date:
// the roots and their markers are the same as in the last run.
func (u *update) sameMarkers(scanned map[string]marker.Scan) bool {
	if slices.ContainsFunc(u.last.Joint, u.outdated) {
		return false
	}
	roots := 0
	for path, unit := range u.units {
		if !unit.Root {
			continue
		}
		roots++
		if p := u.graph.Package(path); p == nil || p.DepOnly {
			return false
		}
		if s, ok := scanned[path]; ok && !slices.Equal(s.Joint, unit.Markers) {
			return false
		}
	}
	return roots == len(u.graph.Roots)
}

// withMarkers returns all roots for generators that read only markers. A root that is
// not in the set becomes a package that has only its recorded markers.
func (u *update) withMarkers(set *load.Set) ([]*loader.Package, error) {
	loaded := map[string]*loader.Package{}
	for _, root := range set.Roots {
		loaded[root.PkgPath] = root
	}
	all := make([]*loader.Package, len(u.graph.Roots))
	for i, root := range u.graph.Roots {
		if all[i] = loaded[root.ImportPath]; all[i] == nil {
			var err error
			if all[i], err = marker.Only(set.Fset, u.units[root.ImportPath].Markers); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
