package catalog

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"
)

// Graph has the upgrades of one channel, to be drawn.
type Graph struct {
	Package, Channel string
	Default          bool // the default channel of the package
	Deprecated       bool
	Nodes            []Node // in ascending order of their versions
	Edges            []Edge
}

// Node is a bundle of a channel, or a name that an entry refers to.
type Node struct {
	Name       string
	Head       bool // no entry replaces or skips it
	Skipped    bool // an entry skips it, so OLM never installs it
	Stranded   bool // no upgrade leads to the head
	Missing    bool // it is not an entry of the channel
	Deprecated bool
}

// Edge is an upgrade from one node to another. They are indexes of Nodes.
type Edge struct {
	From, To int
	Kind     string // replaces, skips or skipRange
}

// Graphs returns the graphs of all channels of a package, or of all packages if the name is
// empty, sorted by name. The default channel of a package comes first.
func (c *Catalog) Graphs(pkg string) []Graph {
	versions := c.versions()
	defaults := map[string]string{}
	for _, p := range c.Packages {
		defaults[p.Value.Name] = p.Value.DefaultChannel
	}
	var graphs []Graph
	for _, ch := range c.Channels {
		if pkg == "" || ch.Value.Package == pkg {
			g := c.graph(ch.Value, versions)
			g.Default = defaults[g.Package] == g.Channel
			graphs = append(graphs, g)
		}
	}
	slices.SortStableFunc(graphs, func(a, b Graph) int {
		if a.Package == b.Package && a.Default != b.Default {
			if a.Default {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Channel, b.Channel))
	})
	return graphs
}

// bundleKey identifies a bundle.
type bundleKey struct{ pkg, name string }

// versions returns the versions of all bundles that have a valid one.
func (c *Catalog) versions() map[bundleKey]semver.Version {
	versions := map[bundleKey]semver.Version{}
	for _, b := range c.Bundles {
		id, _ := b.Value.packageProperty()
		if version, err := semver.Parse(id.version); err == nil {
			versions[bundleKey{b.Value.Package, b.Value.Name}] = version
		}
	}
	return versions
}

// isDeprecated reports whether the package deprecates a channel or a bundle.
func (c *Catalog) isDeprecated(pkg, schema, name string) bool {
	return slices.ContainsFunc(c.Deprecations, func(d Doc[Deprecations]) bool {
		return d.Value.Package == pkg && slices.ContainsFunc(d.Value.Entries, func(e Deprecation) bool {
			return e.Reference.Schema == schema && e.Reference.Name == name
		})
	})
}

// graph returns the graph of a channel.
func (c *Catalog) graph(ch Channel, versions map[bundleKey]semver.Version) Graph {
	g := Graph{Package: ch.Package, Channel: ch.Name, Deprecated: c.isDeprecated(ch.Package, SchemaChannel, ch.Name)}
	heads, skipped, stranded := ch.heads(), ch.skipped(), map[string]bool{}
	if len(heads) == 1 {
		if chain, cycle := ch.chain(heads[0]); !cycle {
			for _, i := range ch.stranded(chain) {
				stranded[ch.Entries[i].Name] = true
			}
		}
	}
	add := func(name string, missing bool) {
		if name != "" && g.index(name) < 0 {
			g.Nodes = append(g.Nodes, Node{
				Name: name, Missing: missing, Head: !missing && slices.Contains(heads, name),
				Skipped: !missing && skipped[name], Stranded: stranded[name],
				Deprecated: c.isDeprecated(ch.Package, SchemaBundle, name),
			})
		}
	}
	for _, e := range ch.Entries {
		add(e.Name, false)
	}
	for _, e := range ch.Entries {
		for _, predecessor := range slices.Concat([]string{e.Replaces}, e.Skips) {
			add(predecessor, true)
		}
	}
	version := func(n Node) semver.Version { return versions[bundleKey{ch.Package, n.Name}] } // 0.0.0 if unknown
	slices.SortStableFunc(g.Nodes, func(a, b Node) int {
		return cmp.Or(version(a).Compare(version(b)), cmp.Compare(a.Name, b.Name))
	})
	for _, e := range ch.Entries {
		g.connect(e, func(n Node) bool {
			in, err := semver.ParseRange(e.SkipRange)
			_, known := versions[bundleKey{ch.Package, n.Name}]
			return err == nil && known && in(version(n))
		})
	}
	return g
}

// connect adds the edges to an entry. An entry may both replace and skip another one. What is only in its range has an
// edge of its own.
func (g *Graph) connect(e Entry, inRange func(Node) bool) {
	to := g.index(e.Name)
	add := func(from int, kind string) {
		if edge := (Edge{from, to, kind}); from >= 0 && from != to && !slices.Contains(g.Edges, edge) {
			g.Edges = append(g.Edges, edge)
		}
	}
	add(g.index(e.Replaces), "replaces")
	for _, predecessor := range e.Skips {
		add(g.index(predecessor), "skips")
	}
	for from, n := range g.Nodes {
		if e.SkipRange != "" && n.Name != e.Replaces && !slices.Contains(e.Skips, n.Name) && inRange(n) {
			add(from, "skipRange")
		}
	}
}

// index returns the index of a node, or -1.
func (g *Graph) index(name string) int {
	return slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Name == name })
}
