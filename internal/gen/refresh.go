package gen

import (
	"context"
	"errors"
	"go/token"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// refresh makes the result of a job of what the last run left, and of runs of
// the generators over the packages that changed since.
type refresh struct {
	*past
	src     *sources
	job     *job
	library *library
	disk    *disk

	resumed bool // the graph is the last run's, which has not all packages

	explain bool  // a run went wrong, and the next one is to tell why
	problem error // why

	set     *packageSet
	loaded  *golist.Loaded
	kinds   *kinds
	scanned map[string]marker.Scan // of the roots of the set, by import path
	outputs []output
}

// all generates for what changed since the last run, or where that is not known,
// for all. The record is nil where there is none.
func (r *refresh) all(ctx context.Context, g *golist.Graph, tree *record.Tree, h *history, answer record.Go) (*result, *record.Record) {
	if tree != nil && h.last != nil && h.last.Go.Arch == answer.Arch && h.last.Go.Flags == answer.Flags && dependencies(h.last, g, r.library) {
		r.disk = look(r.src, h.last.Outputs())
		r.past = newPast(h.last, tree, g, r.disk.isRight)
		if !r.run(ctx) {
			return nil, nil
		}
		if next := r.next(); next != nil {
			return r.result(next), next
		}
	}
	r.disk = look(r.src, nil)
	r.past = newPast(nil, tree, g, r.disk.isRight)
	if !r.run(ctx) {
		return nil, nil
	}
	next := r.next()
	return r.result(next), next
}

// run generates for what is dirty. It is false where something is wrong: that is
// another path's to tell, unless it could be found out here.
func (r *refresh) run(ctx context.Context) bool {
	for {
		ok := r.generate(ctx)
		if r.set.deps != nil && r.library.lacks(r.set.deps) {
			continue
		}
		if !ok && !r.explain {
			r.explain = true
			continue
		}
		if ok && r.loaded != nil {
			r.library.keep(r.set.deps, r.loaded.Fresh)
		}
		if !r.admit(r.set.groups) {
			return !r.explain
		}
	}
}

// generate loads the dirty roots and runs the generators over them. To explain, it
// has the library do all that it can say something about, as the slow path does:
// what did not change was without errors, and refers to nothing that did.
func (r *refresh) generate(ctx context.Context) bool {
	r.kinds, r.problem = nil, nil
	if r.tree != nil && !r.explain {
		r.kinds = &kinds{known: r.knownKinds(), own: func(path string) bool {
			p := r.graph.Package(path)
			return p == nil || !p.Fixed()
		}}
	}
	roots := r.roots()
	r.set, r.loaded = &packageSet{fset: token.NewFileSet(), kinds: r.kinds, groups: map[string]string{}}, nil
	if len(roots) > 0 && !r.load(ctx, roots) {
		return false
	}
	r.scanned = map[string]marker.Scan{}
	for i, s := range r.set.scan(r.src) {
		r.scanned[r.set.roots[i].PkgPath] = s
	}
	if r.set.settled = r.jointStands(); !r.set.settled && !r.mark() {
		return false
	}
	var err error
	r.outputs, err = generate(ctx, r.set, r.job.generators, r.src)
	exact := r.loaded == nil || !r.loaded.Strayed()
	if problems := (Problems)(nil); r.explain && exact && errors.As(err, &problems) {
		r.problem = err
	}
	return err == nil && exact
}

// load loads some of the roots, and what their types refer to.
func (r *refresh) load(ctx context.Context, roots []*golist.Package) bool {
	temp, err := r.src.tempDir()
	if err != nil {
		return false
	}
	r.set.deps = r.library.world(r.set.fset)
	r.loaded, err = r.graph.Of(roots).Load(ctx, golist.Loading{
		Fset: r.set.fset,
		Read: counted(progress(ctx), func(name string) ([]byte, error) {
			if r.tree != nil && r.tree.Has(name) {
				return r.tree.Read(name)
			}
			return r.src.read(name)
		}),
		Filters: checkFilters(r.job.generators),
		Broken:  r.explain,
		Deps:    r.set.deps,
		Temp:    filepath.Join(temp, "packages.json"),
	})
	if err != nil {
		return false
	}
	r.set.roots = r.loaded.Roots
	return true
}

// knownKinds are the kinds whose CRDs are on the disk as they were made.
func (r *refresh) knownKinds() map[schema.GroupKind]record.Kind {
	known := map[schema.GroupKind]record.Kind{}
	for _, k := range r.last.Kinds {
		if k.Key != (record.Sum{}) && !slices.ContainsFunc(k.Outputs, r.wrong) {
			known[schema.GroupKind{Group: k.Group, Kind: k.Kind}] = k
		}
	}
	return known
}

// jointStands reports whether what is made of the markers of all roots together
// is as it was: the roots are the same, and so are their markers.
func (r *refresh) jointStands() bool {
	if slices.ContainsFunc(r.last.Joint, r.wrong) {
		return false
	}
	roots := 0
	for path, u := range r.units {
		if !u.Root {
			continue
		}
		roots++
		if p := r.graph.Package(path); p == nil || p.DepOnly {
			return false
		}
		if s, ok := r.scanned[path]; ok && !slices.Equal(s.Joint, u.Markers) {
			return false
		}
	}
	return roots == len(r.graph.Roots)
}

// mark gives the set all roots for generators that read markers alone: a package
// that was not loaded is one with nothing but the markers that it is known to
// have.
func (r *refresh) mark() bool {
	loaded := map[string]*loader.Package{}
	for _, root := range r.set.roots {
		loaded[root.PkgPath] = root
	}
	for _, root := range r.graph.Roots {
		p := loaded[root.ImportPath]
		if p == nil {
			var err error
			if p, err = marker.Only(r.set.fset, r.units[root.ImportPath].Markers); err != nil {
				return false
			}
		}
		r.set.marked = append(r.set.marked, p)
	}
	return true
}

// result is that of the whole job, of which next is the record. Without one, all
// was generated. It is nil when a file changed meanwhile.
func (r *refresh) result(next *record.Record) *result {
	res := &result{outputs: r.outputs, matched: len(r.graph.Roots) > 0}
	if next != nil && !r.addStanding(res, next.Outputs()) {
		return nil
	}
	for _, root := range r.graph.Roots {
		if s, loaded := r.scanned[root.ImportPath]; loaded {
			res.warnings = append(res.warnings, s.Warnings...)
		} else {
			res.warnings = append(res.warnings, r.units[root.ImportPath].Warnings...)
		}
		if folder, ok := inProject(r.src.dir, root.Dir); ok && len(root.GoFiles) > 0 {
			res.folders = append(res.folders, folder)
		}
	}
	res.warnings = sortWarnings(res.warnings)
	return res
}

// addStanding adds the outputs that were not made again. What the project has not
// on record is read, to be put there.
func (r *refresh) addStanding(res *result, outputs []record.Output) bool {
	made := map[string]bool{}
	for _, o := range r.outputs {
		made[o.path] = true
	}
	for _, o := range outputs {
		switch {
		case made[o.Path]:
		case r.disk.onRecord(o):
			res.stands = append(res.stands, o)
		default:
			content, ok := r.disk.content(o)
			if !ok {
				return false
			}
			res.outputs = append(res.outputs, output{generator: o.Generator, path: o.Path, content: content})
		}
	}
	return true
}
