package golist

import (
	"maps"
	"slices"
)

// Saved is a package of a graph as plain data.
type Saved struct {
	ImportPath, Name, Dir                      string
	GoFiles, CgoFiles, SwigFiles, SwigCXXFiles []string
	DepOnly                                    bool
	// Known is false if only the name of the package is saved, because another one
	// imports it.
	Known   bool
	Imports []SavedImport
}

// SavedImport is an import as written, and the index of its package.
type SavedImport struct {
	Written string
	Package int
}

// Save returns the packages in known, and the names of the packages that they import.
// The roots come first, in their order. All roots must be known.
func (g *Graph) Save(known map[*Package]bool) []Saved {
	var all []Saved
	numbers := map[*Package]int{}
	var queue []*Package
	number := func(p *Package) int {
		n, ok := numbers[p]
		if !ok {
			n = len(queue)
			numbers[p] = n
			queue = append(queue, p)
		}
		return n
	}
	for _, p := range g.Roots {
		number(p)
	}
	for _, p := range slices.SortedFunc(maps.Keys(known), (*Package).Compare) {
		number(p)
	}
	for i := 0; i < len(queue); i++ {
		p := queue[i]
		s := Saved{ImportPath: p.ImportPath, Name: p.Name, Dir: p.Dir, DepOnly: p.DepOnly, Known: !p.DepOnly || known[p]}
		if s.Known {
			s.GoFiles, s.CgoFiles, s.SwigFiles, s.SwigCXXFiles = p.GoFiles, p.CgoFiles, p.SwigFiles, p.SwigCXXFiles
			for _, written := range slices.Sorted(maps.Keys(p.imports)) {
				s.Imports = append(s.Imports, SavedImport{written, number(p.imports[written])})
			}
		}
		all = append(all, s)
	}
	return all
}

// All returns all packages, in the order of their paths.
func (g *Graph) All() []*Package {
	return slices.SortedFunc(maps.Values(g.byPath), (*Package).Compare)
}

// SaveExternal returns the external packages.
func (g *Graph) SaveExternal() []Saved {
	external := map[*Package]bool{}
	for _, p := range g.byPath {
		if p.external && p.DepOnly {
			external[p] = true
		}
	}
	all := g.Of(nil).Save(external)
	for i, s := range all {
		if g.byPath[s.ImportPath].unread {
			all[i].Known = false
		}
	}
	return all
}

// Restore returns the graph that Save saved. Loading a package of which only the name is
// saved returns an [Inexact].
func (c Command) Restore(all []Saved) (*Graph, error) {
	g := &Graph{command: c, byPath: make(map[string]*Package, len(all))}
	packages := make([]*Package, len(all))
	for i := range packages {
		packages[i] = &Package{}
	}
	for i, s := range all {
		p := packages[i]
		*p = Package{ImportPath: s.ImportPath, Name: s.Name, Dir: s.Dir, GoFiles: s.GoFiles, CgoFiles: s.CgoFiles,
			SwigFiles: s.SwigFiles, SwigCXXFiles: s.SwigCXXFiles, DepOnly: s.DepOnly, unread: !s.Known,
			external: c.external(s.Dir), imports: make(map[string]*Package, len(s.Imports))}
		for _, imported := range s.Imports {
			if imported.Package < 0 || imported.Package >= len(packages) {
				return nil, Inexact("the record is damaged")
			}
			p.imports[imported.Written] = packages[imported.Package]
		}
		g.byPath[p.ImportPath] = p
		if !p.DepOnly {
			g.Roots = append(g.Roots, p)
		}
	}
	return g, nil
}
