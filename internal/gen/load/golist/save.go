package golist

import (
	"maps"
	"slices"
)

// Saved is a package of a graph as plain data.
type Saved struct {
	ImportPath, Name, Dir                      string
	GoFiles, CgoFiles, SwigFiles, SwigCXXFiles []string `json:",omitempty"`
	DepOnly                                    bool     `json:",omitempty"`
	// Known is false if only the name of the package is saved, because another one
	// imports it.
	Known   bool          `json:",omitempty"`
	Imports []SavedImport `json:",omitempty"`
}

// SavedImport is an import as written, and the index of its package.
type SavedImport struct {
	Written string
	Package int
}

// All returns all packages, in the order of their paths.
func (g *Graph) All() []*Package {
	return slices.SortedFunc(maps.Values(g.byPath), (*Package).Compare)
}

// SaveExternal returns the external packages. They import only each other.
func (g *Graph) SaveExternal() []Saved {
	external := slices.DeleteFunc(g.All(), func(p *Package) bool { return !p.external || !p.DepOnly })
	numbers := make(map[*Package]int, len(external))
	for i, p := range external {
		numbers[p] = i
	}
	all := make([]Saved, len(external))
	for i, p := range external {
		all[i] = Saved{ImportPath: p.ImportPath, Name: p.Name, Dir: p.Dir, DepOnly: true, Known: !p.unread, GoFiles: p.GoFiles,
			CgoFiles: p.CgoFiles, SwigFiles: p.SwigFiles, SwigCXXFiles: p.SwigCXXFiles}
		for _, written := range slices.Sorted(maps.Keys(p.imports)) {
			all[i].Imports = append(all[i].Imports, SavedImport{written, numbers[p.imports[written]]})
		}
	}
	return all
}

// Restore returns the graph of saved packages. Loading a package of which only the name is
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
				return nil, Inexact("the listing is damaged")
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
