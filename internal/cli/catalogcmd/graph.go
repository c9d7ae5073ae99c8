package catalogcmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/spf13/cobra"
)

// The formats of graphs.
const (
	formatMermaid = "mermaid"
	formatSVG     = "svg"
)

// graph holds the flags of operon catalog graph.
type graph struct {
	pkg    string
	output string
}

func newGraph(a *command.App) *cobra.Command {
	o := &graph{}
	cmd := &cobra.Command{
		Use:   "graph [DIR]",
		Short: "Show the upgrades in the channels of a catalog",
		Long: `Show which versions the channels of the catalog in a folder (default: catalog)
have, and which versions are upgraded to which: as a table, as a picture (svg),
or as a flowchart for Mermaid, which GitHub draws in Markdown.`,
		Example: `  operon catalog graph
  operon catalog graph --output svg > channels.svg
  operon catalog graph --package fleet --output mermaid`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	cmd.Flags().StringVar(&o.pkg, "package", "", "show the channels of one package")
	command.BindOutput(cmd, &o.output, formatMermaid, formatSVG)
	command.CompleteNothing(cmd, "package")
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

// graphFrame is the JSON report.
type graphFrame struct {
	command.Frame
	Items []graphRow `json:"items"`
}

// graphRow is one version in one channel.
type graphRow struct {
	Package    string   `json:"package"`
	Channel    string   `json:"channel"`
	Default    bool     `json:"default"` // the default channel of the package
	Bundle     string   `json:"bundle"`
	Head       bool     `json:"head"`
	Skipped    bool     `json:"skipped"`  // OLM never installs it
	Stranded   bool     `json:"stranded"` // no upgrade leads to the head
	Deprecated bool     `json:"deprecated"`
	Replaces   []string `json:"replaces"`
	Skips      []string `json:"skips"`
	SkipRange  []string `json:"skipRange"` // the bundles in the range
}

func (o *graph) run(ctx context.Context, a *command.App, cmd *cobra.Command, args []string) error {
	if err := command.CheckOutput(o.output, formatMermaid, formatSVG); err != nil {
		return err
	}
	folder, err := oneFolder(a, cmd, args)
	if err != nil {
		return err
	}
	graphs, err := images.Await(ctx, func() ([]catalog.Graph, error) { return o.graphs(a, folder) })
	if err != nil {
		return err
	}
	switch o.output {
	case command.FormatJSON:
		return command.PrintJSON(a.Out, graphFrame{command.NewFrame("catalog graph", "CatalogGraph"), rows(graphs)})
	case formatMermaid:
		err = a.Print(catalog.Mermaid(graphs))
	case formatSVG:
		err = a.Print(catalog.SVG(graphs))
	default:
		return a.PrintTable(table(rows(graphs)))
	}
	return err
}

// graphs returns the graphs of the channels of the catalog in a folder, at least one.
func (o *graph) graphs(a *command.App, folder string) ([]catalog.Graph, error) {
	c, found, err := read(a, folder)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, unreadable(folder, found)
	}
	graphs, err := c.Graphs(o.pkg)
	if err == nil && len(graphs) == 0 {
		return nil, o.noChannels(c, folder)
	}
	return graphs, fault.In(folder, err)
}

func (o *graph) noChannels(c *catalog.Catalog, folder string) error {
	if o.pkg == "" {
		return fault.Usage("add a document of schema olm.channel", "%s has no channel", folder)
	}
	var names []string
	for _, p := range c.Packages {
		names = append(names, p.Value.Name)
	}
	return fault.Usage("packages: "+strings.Join(slices.Sorted(slices.Values(names)), ", "), "%s has no channel of package %s", folder, o.pkg)
}

// rows returns the entries of channels, the highest version first.
func rows(graphs []catalog.Graph) []graphRow {
	all := []graphRow{}
	for _, g := range graphs {
		upgrades := make([][]catalog.Edge, len(g.Nodes)) // by the node to which they lead
		for _, e := range g.Edges {
			upgrades[e.To] = append(upgrades[e.To], e)
		}
		for i, n := range slices.Backward(g.Nodes) {
			if n.Missing {
				continue
			}
			row := graphRow{
				Package: g.Package, Channel: g.Channel, Default: g.Default,
				Bundle: n.Name, Head: n.Head, Skipped: n.Skipped, Stranded: n.Stranded, Deprecated: n.Deprecated || g.Deprecated,
				Replaces: []string{}, Skips: []string{}, SkipRange: []string{},
			}
			for _, e := range upgrades[i] {
				list := map[string]*[]string{"replaces": &row.Replaces, "skips": &row.Skips, "skipRange": &row.SkipRange}[e.Kind]
				*list = append(*list, g.Nodes[e.From].Name)
			}
			all = append(all, row)
		}
	}
	return all
}

// table returns the rows for people.
func table(all []graphRow) [][]string {
	lines := [][]string{{"PACKAGE", "CHANNEL", "BUNDLE", "REPLACES", "SKIPS", "NOTES"}}
	for _, r := range all {
		var notes []string
		for _, n := range []struct {
			is   bool
			text string
		}{
			{r.Head, "head"}, {r.Head && r.Default, "default"}, {r.Skipped, "skipped"}, {r.Stranded, "no upgrade to the head"},
			{r.Deprecated, "deprecated"},
		} {
			if n.is {
				notes = append(notes, n.text)
			}
		}
		skips := strings.Join(append(slices.Clone(r.Skips), r.SkipRange...), ",")
		replaces, noted := strings.Join(r.Replaces, ","), strings.Join(notes, ", ")
		lines = append(lines, []string{r.Package, r.Channel, r.Bundle, cmp.Or(replaces, "-"), cmp.Or(skips, "-"), cmp.Or(noted, "-")})
	}
	return lines
}
