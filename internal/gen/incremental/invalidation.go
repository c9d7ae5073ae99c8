package incremental

import (
	"slices"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// invalidation finds the dirty packages: those whose outputs may differ from the last
// run. Dirty packages must be loaded again. The outputs of all other packages are as
// recorded.
type invalidation struct {
	last  *record.Record
	tree  *record.Tree
	graph *golist.Graph

	units   map[string]*record.Unit // packages of the last run, by import path
	dirty   map[string]bool         // packages by import path
	current func(record.Output) bool
}

// newInvalidation compares the packages of a listing with those of the last run.
// current reports whether the file of an output is as generated.
func newInvalidation(last *record.Record, tree *record.Tree, g *golist.Graph, current func(record.Output) bool) *invalidation {
	v := &invalidation{last: last, tree: tree, graph: g, units: map[string]*record.Unit{}, dirty: map[string]bool{}, current: current}
	for i := range last.Units {
		v.units[last.Units[i].Path] = &last.Units[i]
	}
	v.compare()
	v.propagate()
	return v
}

// recorded returns the packages that the last run read, by import path.
func (v *invalidation) recorded() map[string]*golist.Saved {
	all := map[string]*golist.Saved{}
	for i := range v.last.Packages {
		if s := &v.last.Packages[i]; s.Known {
			all[s.ImportPath] = s
		}
	}
	return all
}

// sameDependencies reports whether the external packages that the last run read are
// still the same. Without a library, it cannot tell that of the types that a run with other
// arguments read.
func sameDependencies(last *record.Record, g *golist.Graph, l *library) bool {
	for i := range last.Packages {
		s := &last.Packages[i]
		if now := g.Package(s.ImportPath); s.Known && now != nil && now.External() && (now.Dir != s.Dir || !slices.Equal(now.GoFiles, s.GoFiles)) {
			return false
		}
	}
	if l == nil {
		return len(last.Identities) == 0
	}
	for _, was := range last.Identities {
		if g.Package(was.Path) == nil {
			continue
		}
		if is, ok := l.Identity(was.Path); !ok || is != depcache.Identity(was.Sum) {
			return false
		}
	}
	return true
}

// compare marks packages as dirty whose sources, imports or outputs changed.
func (v *invalidation) compare() {
	recorded := v.recorded()
	for path, u := range v.units {
		now, was := v.graph.Package(path), recorded[path]
		if now == nil || was == nil || u.Root == now.DepOnly || !v.same(now, was) {
			v.dirty[path] = true
		}
	}
	for _, root := range v.graph.Roots {
		if u := v.units[root.ImportPath]; u == nil || !u.Root || slices.ContainsFunc(u.Object, v.outdated) {
			v.dirty[root.ImportPath] = true
		}
	}
	for _, k := range v.last.Kinds {
		if slices.ContainsFunc(k.Outputs, v.outdated) {
			v.invalidateGroup(k.Group)
		}
	}
}

func (v *invalidation) outdated(o record.Output) bool { return !v.current(o) }

// same reports whether a package has the same files and imports as in the last run.
func (v *invalidation) same(now *golist.Package, was *golist.Saved) bool {
	if now.Name != was.Name || now.Dir != was.Dir || !slices.Equal(now.GoFiles, was.GoFiles) || !slices.Equal(now.CgoFiles, was.CgoFiles) {
		return false
	}
	if !v.tree.Same(now.Dir, now.GoFiles) || !v.tree.Same(now.Dir, now.CgoFiles) {
		return false
	}
	imports := now.Imported()
	if len(imports) != len(was.Imports) {
		return false
	}
	for _, i := range was.Imports {
		if imported := imports[i.Written]; imported == nil || imported.ImportPath != v.last.Packages[i.Package].ImportPath {
			return false
		}
	}
	return true
}

// propagate marks packages as dirty that depend on dirty ones: packages whose types refer
// to them, and all packages of the same API group, because a CRD contains all versions of
// its kind.
func (v *invalidation) propagate() {
	for {
		before := len(v.dirty)
		for path, u := range v.units {
			if slices.ContainsFunc(u.Refs, func(ref string) bool { return v.dirty[ref] }) {
				v.dirty[path] = true
			}
			if v.dirty[path] {
				v.invalidateGroup(u.Group)
			}
		}
		if len(v.dirty) == before {
			return
		}
	}
}

// invalidateGroup marks all packages of an API group as dirty.
func (v *invalidation) invalidateGroup(group string) {
	if group == "" {
		return
	}
	for path, u := range v.units {
		if u.Group == group {
			v.dirty[path] = true
		}
	}
}

// addGroups invalidates the current API groups of loaded packages, and reports whether
// more packages are dirty now.
func (v *invalidation) addGroups(groups map[string]string) bool {
	before := len(v.dirty)
	for _, group := range groups {
		v.invalidateGroup(group)
	}
	v.propagate()
	return len(v.dirty) > before
}

// DirtyRoots returns the roots to load, in the order of the listing.
func (v *invalidation) DirtyRoots() []*golist.Package {
	var roots []*golist.Package
	for _, root := range v.graph.Roots {
		if v.dirty[root.ImportPath] {
			roots = append(roots, root)
		}
	}
	return roots
}

// dirtyGroups returns the API groups with a package that is dirty or was removed.
func (v *invalidation) dirtyGroups() map[string]bool {
	groups := map[string]bool{}
	for path := range v.dirty {
		if u := v.units[path]; u != nil {
			groups[u.Group] = true
		}
	}
	return groups
}
