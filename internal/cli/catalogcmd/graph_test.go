package catalogcmd

import (
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/olm/catalog"
)

// TestManyRows lists as many upgrades as a graph can have, of many bundles. With their product, it would take minutes.
func TestManyRows(t *testing.T) {
	t.Parallel()
	g := catalog.Graph{Nodes: make([]catalog.Node, 1_000_000)}
	for i := range 200_000 {
		g.Edges = append(g.Edges, catalog.Edge{From: i, To: i + 1, Kind: "replaces"})
	}
	ended := make(chan []graphRow, 1)
	go func() { ended <- rows([]catalog.Graph{g}) }()
	select {
	case all := <-ended:
		if last := all[len(all)-2]; len(all) != len(g.Nodes) || len(last.Replaces) != 1 {
			t.Errorf("%d rows, %+v", len(all), last)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end")
	}
}
