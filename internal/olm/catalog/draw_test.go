package catalog

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	c := &Catalog{}
	src := strings.Replace(sound, "- name: fleet.v1.1.1\n", "- name: fleet.v1.1.1\n  replaces: fleet.v1.0.0\n", 1)
	if found := c.AddFile("c.yaml", []byte(src)); len(found) > 0 {
		t.Fatal(found)
	}
	graphs, err := c.Graphs("fleet")
	if err != nil {
		t.Fatal(err)
	}
	want := `flowchart LR
  classDef head stroke-width:3px
  classDef deprecated fill:#f8d7a0
  classDef missing stroke-dasharray:4
  classDef skipped fill:#ddd
  classDef stranded stroke:#c00,stroke-width:3px
  subgraph c0["fleet / stable (default)"]
    c0n0["fleet.v1.0.0"]:::missing
    c0n1["fleet.v1.1.0"]:::deprecated
    c0n2["fleet.v1.1.1"]:::skipped
    c0n3["fleet.v1.2.0"]:::head
    c0n1 --> c0n3
    c0n2 -. skips .-> c0n3
    c0n0 --> c0n2
  end
`
	if diff := cmp.Diff(want, Mermaid(graphs)); diff != "" {
		t.Error(diff)
	}
	picture := SVG(graphs)
	dec := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"fleet.v1.2.0 replaces fleet.v1.1.0", "fleet.v1.2.0 skips fleet.v1.1.1", "fleet / stable (default)"} {
		if !strings.Contains(picture, ">"+text+"<") {
			t.Errorf("the picture lacks %q", text)
		}
	}
	if got, err := c.Graphs("navy"); len(got) > 0 || err != nil {
		t.Error(got, err)
	}
}

// TestBrokenChain draws an entry that both replaces and skips another one, which cuts off what is before it.
func TestBrokenChain(t *testing.T) {
	t.Parallel()
	c := &Catalog{}
	src := "schema: olm.channel\npackage: fleet\nname: stable\nentries:\n- name: fleet.v1.0.0\n- {name: fleet.v1.1.0, replaces: fleet.v1.0.0}\n" +
		"- {name: fleet.v1.2.0, replaces: fleet.v1.1.0, skips: [fleet.v1.1.0, fleet.v1.1.0]}\n"
	if found := c.AddFile("c.yaml", []byte(src)); len(found) > 0 {
		t.Fatal(found)
	}
	graphs, err := c.Graphs("")
	if err != nil {
		t.Fatal(err)
	}
	graph := graphs[0]
	nodes := []Node{
		{Name: "fleet.v1.0.0", Stranded: true},
		{Name: "fleet.v1.1.0", Skipped: true},
		{Name: "fleet.v1.2.0", Head: true},
	}
	if diff := cmp.Diff(nodes, graph.Nodes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Edge{{0, 1, "replaces"}, {1, 2, "replaces"}, {1, 2, "skips"}}, graph.Edges); diff != "" {
		t.Error(diff)
	}
	picture := Mermaid([]Graph{graph})
	for _, text := range []string{`["fleet.v1.0.0"]:::stranded`, `["fleet.v1.1.0"]:::skipped`} {
		if !strings.Contains(picture, text) {
			t.Errorf("the picture lacks %q", text)
		}
	}
}

// TestLargeChannel checks that a channel with a quadratic number of upgrades is an error, and no picture.
func TestLargeChannel(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("schema: olm.channel\npackage: fleet\nname: stable\nentries:\n")
	for i := range 700 {
		fmt.Fprintf(&src, "- {name: fleet.v1.0.%d, skipRange: '<1.0.%d'}\n", i, i)
	}
	for i := range 700 {
		fmt.Fprintf(&src, "---\nschema: olm.bundle\npackage: fleet\nname: fleet.v1.0.%d\nproperties: [{type: olm.package, value: {packageName: fleet, version: 1.0.%d}}]\n", i, i)
	}
	c := &Catalog{}
	if found := c.AddFile("c.yaml", []byte(src.String())); len(found) > 0 {
		t.Fatal(found)
	}
	if _, err := c.Graphs(""); err == nil || err.Error() != "the channels have more than 200000 upgrades, too many to show" {
		t.Error(err)
	}
}
