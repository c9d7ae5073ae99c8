package catalog

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/olm/bundle"
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

// TestWideChannels draws channels as large as a file of 10 MB can have. It must end, also if ranges select nothing: with the square
// of the entries, it would take minutes.
func TestWideChannels(t *testing.T) {
	t.Parallel()
	const many = 400_000
	entries := func(change func(i int, e *Entry)) []Entry {
		all := make([]Entry, many)
		for i := range all {
			all[i].Name = fmt.Sprintf("v%d", i)
			change(i, &all[i])
		}
		return all
	}
	head := Entry{Name: "head"}
	for i := range many {
		head.Skips = append(head.Skips, fmt.Sprintf("v%d", i))
	}
	for name, c := range map[string]struct {
		entries []Entry
		edges   int // -1 for an error
	}{
		"heads":      {entries(func(int, *Entry) {}), 0},
		"skips":      {[]Entry{head}, -1},
		"one range":  {append(entries(func(int, *Entry) {}), Entry{Name: "w", SkipRange: "<0.0.1"}), 0},
		"all ranges": {entries(func(_ int, e *Entry) { e.SkipRange = "<0.0.1" }), -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := &Catalog{Channels: []Doc[Channel]{{Value: Channel{Package: "fleet", Name: "stable", Entries: c.entries}}}}
			for i := range many / 2 {
				b := Bundle{Package: "fleet", Name: fmt.Sprintf("v%d", i)}
				b.Properties = []bundle.Property{{Type: bundle.PropertyPackage, Value: map[string]any{"packageName": "fleet", "version": "1.0.0"}}}
				all.Bundles = append(all.Bundles, Doc[Bundle]{Value: b})
			}
			ended := make(chan error, 1)
			go func() {
				graphs, err := all.Graphs("")
				if err == nil && len(graphs[0].Edges) != c.edges {
					err = fmt.Errorf("%d edges", len(graphs[0].Edges))
				}
				ended <- err
			}()
			select {
			case err := <-ended:
				if (err != nil) != (c.edges < 0) {
					t.Error(err)
				}
			case <-time.After(2 * time.Minute):
				t.Error("it does not end")
			}
		})
	}
}

// TestSkipRangeEdges draws ranges: with their bounds, but without the entry itself, what it replaces or skips, and bundles whose
// version is unknown.
func TestSkipRangeEdges(t *testing.T) {
	t.Parallel()
	versions := []string{"1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0-rc.1", "1.1.0", "1.2.0"}
	for _, tt := range []struct {
		entry Entry // of fleet.v1.2.0
		want  string
	}{
		{Entry{SkipRange: ">=1.0.0 <1.1.0"}, "1.0.0 1.0.1 1.1.0-rc.1"},
		{Entry{SkipRange: ">1.0.0 <=1.1.0"}, "1.0.1 1.1.0-rc.1 1.1.0"},
		{Entry{SkipRange: "<=1.2.0"}, "1.0.0-rc.1 1.0.0 1.0.1 1.1.0-rc.1 1.1.0"},
		{Entry{SkipRange: "<1.0.1 || >=1.1.0"}, "1.0.0-rc.1 1.0.0 1.1.0"},
		{Entry{SkipRange: "<1.1.0", Replaces: "fleet.v1.0.1", Skips: []string{"fleet.v1.0.0"}}, "1.0.0-rc.1 1.1.0-rc.1"},
		{Entry{SkipRange: "<0.1.0"}, ""},
		{Entry{SkipRange: "latest"}, ""},
		{Entry{}, ""},
	} {
		var src strings.Builder
		src.WriteString("schema: olm.channel\npackage: fleet\nname: stable\nentries:\n- name: fleet.unknown\n")
		for _, v := range versions[:5] {
			fmt.Fprintf(&src, "- name: fleet.v%s\n", v)
		}
		fmt.Fprintf(&src, "- {name: fleet.v1.2.0, replaces: %q, skipRange: %q, skips: [%s]}\n", tt.entry.Replaces, tt.entry.SkipRange, strings.Join(tt.entry.Skips, ", "))
		for _, v := range versions {
			fmt.Fprintf(&src, "---\nschema: olm.bundle\npackage: fleet\nname: fleet.v%s\nproperties: [{type: olm.package, value: {packageName: fleet, version: %s}}]\n", v, v)
		}
		src.WriteString("---\nschema: olm.bundle\npackage: fleet\nname: fleet.unknown\n")
		c := &Catalog{}
		if found := c.AddFile("c.yaml", []byte(src.String())); len(found) > 0 {
			t.Fatal(found)
		}
		graphs, err := c.Graphs("")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range graphs[0].Edges {
			if e.Kind == "skipRange" && graphs[0].Nodes[e.To].Name == "fleet.v1.2.0" {
				got = append(got, strings.TrimPrefix(graphs[0].Nodes[e.From].Name, "fleet.v"))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: %q, want %q", tt.entry, got, tt.want)
		}
	}
}
