package catalog

import (
	"fmt"
	"html"
	"strings"
)

// Mermaid returns the graphs as a Mermaid flowchart, which GitHub and other sites draw.
func Mermaid(graphs []Graph) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	b.WriteString("  classDef head stroke-width:3px\n  classDef deprecated fill:#f8d7a0\n  classDef missing stroke-dasharray:4\n")
	b.WriteString("  classDef skipped fill:#ddd\n  classDef stranded stroke:#c00,stroke-width:3px\n")
	for i, g := range graphs {
		fmt.Fprintf(&b, "  subgraph c%d[%s]\n", i, mermaidText(g.title()))
		for j, n := range g.Nodes {
			fmt.Fprintf(&b, "    c%dn%d[%s]%s\n", i, j, mermaidText(n.Name), n.mermaidClass())
		}
		for _, e := range g.Edges {
			arrow := map[string]string{"replaces": "-->", "skips": "-. skips .->", "skipRange": "-. skipRange .->"}[e.Kind]
			fmt.Fprintf(&b, "    c%dn%d %s c%dn%d\n", i, e.From, arrow, i, e.To)
		}
		b.WriteString("  end\n")
	}
	return b.String()
}

// mermaidText quotes a text. Mermaid replaces entities, such as #quot;, in texts.
func mermaidText(s string) string {
	return `"` + strings.NewReplacer("#", "#35;", `"`, "#quot;").Replace(s) + `"`
}

func (n Node) mermaidClass() string {
	switch {
	case n.Stranded:
		return ":::stranded"
	case n.Deprecated:
		return ":::deprecated"
	case n.Skipped:
		return ":::skipped"
	case n.Head:
		return ":::head"
	case n.Missing:
		return ":::missing"
	default:
		return ""
	}
}

// title names the channel of a graph.
func (g Graph) title() string {
	title := g.Package + " / " + g.Channel
	if g.Default {
		title += " (default)"
	}
	if g.Deprecated {
		title += " (deprecated)"
	}
	return title
}

// The measures of the picture, in pixels.
const (
	charWidth  = 7.3 // of the font below, at 12 pixels
	boxHeight  = 28
	boxGap     = 36
	margin     = 20
	titleSpace = 28
	arcStep    = 16 // how much higher an arc is for each box that it passes
)

// SVG draws the graphs. Each channel is a row of boxes in ascending order of the versions, with
// the upgrades as arcs: solid for replaces, dashed for skips, dotted for skipRange.
func SVG(graphs []Graph) string {
	var body strings.Builder
	width, y := 0.0, float64(margin)
	for _, g := range graphs {
		w, h := g.drawRow(&body, y)
		width, y = max(width, w), y+h+margin
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="monospace" font-size="12">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">`+
		`<path d="M0 0L8 4L0 8z"/></marker></defs>
<rect width="100%%" height="100%%" fill="white"/>
%s</svg>
`, width+margin, y, body.String())
}

// drawRow draws one channel below y. It returns the width and height.
func (g Graph) drawRow(b *strings.Builder, y float64) (width, height float64) {
	reach := 0
	for _, e := range g.Edges {
		reach = max(reach, abs(e.To-e.From))
	}
	arcs := float64(reach*arcStep + 8)
	fmt.Fprintf(b, `<text x="%d" y="%.0f" font-weight="bold">%s</text>`+"\n", margin, y+12, html.EscapeString(g.title()))
	top := y + titleSpace + arcs
	left := make([]float64, len(g.Nodes)+1)
	left[0] = margin
	for i, n := range g.Nodes {
		w := float64(len(n.Name))*charWidth + 16
		left[i+1] = left[i] + w + boxGap
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="4" %s/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			left[i], top, w, boxHeight, n.svgStyle(), left[i]+w/2, top+18, html.EscapeString(n.Name))
	}
	dashes := map[string]string{"skips": ` stroke-dasharray="6 4"`, "skipRange": ` stroke-dasharray="2 3"`}
	for _, e := range g.Edges {
		arc := float64(abs(e.To-e.From)*arcStep + 8)
		from, to := (left[e.From]+left[e.From+1]-boxGap)/2, (left[e.To]+left[e.To+1]-boxGap)/2
		fmt.Fprintf(b, `<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="black" marker-end="url(#arrow)"%s><title>%s</title></path>`+"\n",
			from, top, from, top-arc, to, top-arc, to, top, dashes[e.Kind],
			html.EscapeString(fmt.Sprintf("%s %s %s", g.Nodes[e.To].Name, e.Kind, g.Nodes[e.From].Name)))
	}
	return left[len(g.Nodes)], titleSpace + arcs + boxHeight
}

func (n Node) svgStyle() string {
	fill, stroke := "#eef4fb", `stroke="#456" stroke-width="1"`
	switch {
	case n.Deprecated:
		fill = "#f8d7a0"
	case n.Skipped:
		fill = "#ddd"
	}
	switch {
	case n.Stranded:
		stroke = `stroke="#c00" stroke-width="3"`
	case n.Head:
		stroke = `stroke="#123" stroke-width="3"`
	case n.Missing:
		stroke = `stroke="#888" stroke-dasharray="4"`
	}
	return fmt.Sprintf(`fill="%s" %s`, fill, stroke)
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}
