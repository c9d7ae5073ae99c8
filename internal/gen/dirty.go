package gen

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// past is what the last run knows about the packages of a listing as they are
// now: what came out of a package then comes out of it again, unless it is dirty.
type past struct {
	last  *record.Record
	tree  *record.Tree
	graph *golist.Graph

	units map[string]*record.Unit // of the last run, by import path
	dirty map[string]bool         // packages by import path
	right func(record.Output) bool
}

// newPast compares the packages of a listing with those of the last run, if there
// was one. right tells whether an output is on the disk as it was made.
func newPast(last *record.Record, tree *record.Tree, g *golist.Graph, right func(record.Output) bool) *past {
	p := &past{last: last, tree: tree, graph: g, units: map[string]*record.Unit{}, dirty: map[string]bool{}, right: right}
	if last == nil {
		p.last = &record.Record{}
	}
	for i := range p.last.Units {
		p.units[p.last.Units[i].Path] = &p.last.Units[i]
	}
	p.compare()
	p.spread()
	return p
}

// saved are the packages that the last run read, by import path.
func (p *past) saved() map[string]*golist.Saved {
	all := map[string]*golist.Saved{}
	for i := range p.last.Packages {
		if s := &p.last.Packages[i]; s.Known {
			all[s.ImportPath] = s
		}
	}
	return all
}

// dependencies reports whether the packages that never change are the ones of the
// last run, as far as that looked at them.
func dependencies(last *record.Record, g *golist.Graph, l *library) bool {
	for i := range last.Packages {
		s := &last.Packages[i]
		if now := g.Package(s.ImportPath); s.Known && now != nil && now.Fixed() && (now.Dir != s.Dir || !slices.Equal(now.GoFiles, s.GoFiles)) {
			return false
		}
	}
	for _, was := range last.Identities {
		if g.Package(was.Path) == nil {
			continue
		}
		if is, ok := l.identity(was.Path); !ok || is != depcache.Identity(was.Sum) {
			return false
		}
	}
	return true
}

// compare finds the packages whose sources, or imports, are not what they were.
func (p *past) compare() {
	saved := p.saved()
	for path, u := range p.units {
		now, was := p.graph.Package(path), saved[path]
		if now == nil || was == nil || u.Root == now.DepOnly || !p.same(now, was) {
			p.dirty[path] = true
		}
	}
	for _, root := range p.graph.Roots {
		if u := p.units[root.ImportPath]; u == nil || !u.Root || slices.ContainsFunc(u.Object, p.wrong) {
			p.dirty[root.ImportPath] = true
		}
	}
	for _, k := range p.last.Kinds {
		if slices.ContainsFunc(k.Outputs, p.wrong) {
			p.join(k.Group)
		}
	}
}

func (p *past) wrong(o record.Output) bool { return !p.right(o) }

func (p *past) same(now *golist.Package, was *golist.Saved) bool {
	if now.Name != was.Name || now.Dir != was.Dir || !slices.Equal(now.GoFiles, was.GoFiles) || !slices.Equal(now.CgoFiles, was.CgoFiles) {
		return false
	}
	for _, name := range slices.Concat(now.GoFiles, now.CgoFiles) {
		if !p.tree.Same(filepath.Join(now.Dir, name)) {
			return false
		}
	}
	imports := now.Imported()
	if len(imports) != len(was.Imports) {
		return false
	}
	for _, i := range was.Imports {
		if imported := imports[i.Written]; imported == nil || imported.ImportPath != p.last.Packages[i.Package].ImportPath {
			return false
		}
	}
	return true
}

// spread makes dirty what depends on something dirty: packages whose types refer
// to it, and all packages with kinds of the same group, for a kind is made of
// all its versions.
func (p *past) spread() {
	for {
		before := len(p.dirty)
		for path, u := range p.units {
			if slices.ContainsFunc(u.Refs, func(ref string) bool { return p.dirty[ref] }) {
				p.dirty[path] = true
			}
			if p.dirty[path] {
				p.join(u.Group)
			}
		}
		if len(p.dirty) == before {
			return
		}
	}
}

// join makes all packages of an API group dirty.
func (p *past) join(group string) {
	if group == "" {
		return
	}
	for path, u := range p.units {
		if u.Group == group {
			p.dirty[path] = true
		}
	}
}

// admit makes dirty what a run turns out to touch beside: the packages of the
// groups that its packages belong to now. It is false when there are none.
func (p *past) admit(groups map[string]string) bool {
	before := len(p.dirty)
	for _, group := range groups {
		p.join(group)
	}
	p.spread()
	return len(p.dirty) > before
}

// roots are the roots to load, in their order.
func (p *past) roots() []*golist.Package {
	var roots []*golist.Package
	for _, root := range p.graph.Roots {
		if p.dirty[root.ImportPath] {
			roots = append(roots, root)
		}
	}
	return roots
}

// touched are the groups of which a package is dirty, or gone.
func (p *past) touched() map[string]bool {
	groups := map[string]bool{}
	for path := range maps.Keys(p.dirty) {
		if u := p.units[path]; u != nil {
			groups[u.Group] = true
		}
	}
	return groups
}
