package catalog

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/fault"
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

// The limits for all graphs, so that ranges of a large catalog neither fill the memory nor take minutes.
const (
	maxEdges    = 200_000
	maxCompared = 50_000_000
)

// Graphs returns the graphs of all channels of a package, or of all packages if the name is
// empty, sorted by name. The default channel of a package comes first. It is an error if they have too many upgrades.
func (c *Catalog) Graphs(pkg string) ([]Graph, error) {
	versions, deprecated := c.versions(), c.deprecated()
	defaults := map[string]string{}
	for _, p := range c.Packages {
		defaults[p.Value.Name] = p.Value.DefaultChannel
	}
	var graphs []Graph
	edges, compared := 0, 0
	tooMany := func(limit int, what string) error {
		hint := "select a package with --package"
		if pkg != "" {
			hint = "narrow the ranges in skipRange"
		}
		return fault.Usage(hint, "the channels have more than %d %s, too many to show", limit, what)
	}
	for _, ch := range c.Channels {
		if pkg == "" || ch.Value.Package == pkg {
			if compared += ch.Value.comparisons(); compared > maxCompared {
				return nil, tooMany(maxCompared, "versions to compare with ranges")
			}
			g := newGraph(ch.Value, versions, deprecated, maxEdges-edges)
			if edges += len(g.Edges); edges > maxEdges {
				return nil, tooMany(maxEdges, "upgrades")
			}
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
	return graphs, nil
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

// deprecation identifies what a package deprecates.
type deprecation struct{ pkg, schema, name string }

// deprecated returns what packages deprecate.
func (c *Catalog) deprecated() map[deprecation]bool {
	all := map[deprecation]bool{}
	for _, d := range c.Deprecations {
		for _, e := range d.Value.Entries {
			all[deprecation{d.Value.Package, e.Reference.Schema, e.Reference.Name}] = true
		}
	}
	return all
}

// comparisons returns how often a version is compared with a range, at most.
func (c Channel) comparisons() int {
	ranges, names := 0, 0
	for _, e := range c.Entries {
		names += 2 + len(e.Skips)
		if e.SkipRange != "" {
			ranges++
		}
	}
	return ranges * names
}

// newGraph returns the graph of a channel, with at most limit edges.
func newGraph(ch Channel, versions map[bundleKey]semver.Version, deprecated map[deprecation]bool, limit int) Graph {
	g := Graph{Package: ch.Package, Channel: ch.Name, Deprecated: deprecated[deprecation{ch.Package, SchemaChannel, ch.Name}]}
	heads, skipped, isHead, stranded := ch.heads(), ch.skipped(), map[string]bool{}, map[string]bool{}
	for _, name := range heads {
		isHead[name] = true
	}
	if len(heads) == 1 {
		if chain, cycle := ch.chain(heads[0]); !cycle {
			for _, i := range ch.stranded(chain) {
				stranded[ch.Entries[i].Name] = true
			}
		}
	}
	known := map[string]bool{"": true}
	add := func(name string, missing bool) {
		if !known[name] {
			known[name] = true
			g.Nodes = append(g.Nodes, Node{
				Name: name, Missing: missing, Head: !missing && isHead[name],
				Skipped: !missing && skipped[name], Stranded: stranded[name],
				Deprecated: deprecated[deprecation{ch.Package, SchemaBundle, name}],
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
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.Name] = i
	}
	for _, e := range ch.Entries {
		if g.connect(e, index, func(n Node, in semver.Range) bool {
			_, known := versions[bundleKey{ch.Package, n.Name}]
			return known && in(version(n))
		}); len(g.Edges) > limit {
			break
		}
	}
	return g
}

// connect adds the edges to an entry. An entry may both replace and skip another one. What is only in its range has an
// edge of its own.
func (g *Graph) connect(e Entry, index map[string]int, inRange func(Node, semver.Range) bool) {
	to := index[e.Name]
	has := map[Edge]bool{}
	add := func(name, kind string) {
		from, known := index[name]
		if edge := (Edge{from, to, kind}); known && from != to && !has[edge] {
			has[edge] = true
			g.Edges = append(g.Edges, edge)
		}
	}
	add(e.Replaces, "replaces")
	for _, predecessor := range e.Skips {
		add(predecessor, "skips")
	}
	in, err := semver.ParseRange(e.SkipRange)
	if e.SkipRange == "" || err != nil {
		return
	}
	for from, n := range g.Nodes {
		if from != to && !has[Edge{from, to, "replaces"}] && !has[Edge{from, to, "skips"}] && inRange(n, in) {
			g.Edges = append(g.Edges, Edge{from, to, "skipRange"})
		}
	}
}
