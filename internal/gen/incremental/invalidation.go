package incremental

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/record"
)

// invalidation finds the dirty packages: those whose outputs may differ from the last
// run. Dirty packages must be loaded again. The outputs of all other packages are as
// recorded.
type invalidation struct {
	last    *record.Record
	sources *record.Sources
	graph   *golist.Graph

	units   map[string]*record.Unit // packages of the last run, by import path
	dirty   map[string]bool         // packages by import path
	current func(record.Output) bool
}

// newInvalidation compares the packages of a listing with the packages of the last run.
// current reports whether the file of an output is as generated.
func newInvalidation(last *record.Record, sources *record.Sources, g *golist.Graph, current func(record.Output) bool) *invalidation {
	v := &invalidation{last: last, sources: sources, graph: g, units: map[string]*record.Unit{}, dirty: map[string]bool{}, current: current}
	for i := range last.Units {
		v.units[last.Units[i].Path] = &last.Units[i]
	}
	v.compare()
	v.propagate()
	return v
}

// sameDependencies reports whether the packages outside of the project that the last run used are still the same.
func sameDependencies(last *record.Record, g *golist.Graph, l *library) bool {
	for path, was := range last.Dependencies {
		if p := g.Package(path); p != nil && dependencySum(p, l) != was {
			return false
		}
	}
	return true
}

// dependencySum returns the checksum of everything that the types of a package outside of the project depend on, except
// for other packages. Without a library, it is the checksum of the paths, because sources in GOROOT and in the module cache do
// not change.
func dependencySum(p *golist.Package, l *library) record.Sum {
	var is depcache.Identity
	if l != nil {
		is, _ = l.Identity(p.ImportPath)
	}
	return record.SumOf(fmt.Appendf(nil, "%q %q %x", p.Dir, p.GoFiles, is))
}

// compare marks packages as dirty whose sources, imports or outputs changed.
func (v *invalidation) compare() {
	for path, u := range v.units {
		p := v.graph.Package(path)
		if p == nil || u.Root == p.DepOnly {
			v.dirty[path] = true
		} else if sum, err := v.sum(p); err != nil || sum != u.Sum {
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

// sum returns the checksum of the name, the imports and the sources of a package.
func (v *invalidation) sum(p *golist.Package) (record.Sum, error) {
	text := fmt.Appendf(nil, "%q %q\n", p.Name, p.Dir)
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		sum, err := v.sources.Sum(filepath.Join(p.Dir, name))
		if err != nil {
			return record.Sum{}, err
		}
		text = fmt.Appendf(text, "%q %s\n", name, sum)
	}
	imports := p.Imported()
	for _, written := range slices.Sorted(maps.Keys(imports)) {
		text = fmt.Appendf(text, "import %q %q\n", written, imports[written].ImportPath)
	}
	return record.SumOf(text), nil
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
