package incremental_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// TestRefusedCRD edits a project with a CRD that API servers refuse. A CRD is validated when it is made. Later runs do
// not make it again, and still print the warning, at the line where the field is then.
func TestRefusedCRD(t *testing.T) {
	t.Parallel()
	const field = "\t// +kubebuilder:validation:Pattern=`^[a-z`\n\tCode string `json:\"code,omitempty\"`\n"
	const anchor, crd = "api/fleet/v1/anchor_types.go", "config/crd/bases/fleet.example.com_anchors.yaml"
	dir, keep := gentest.Corpus(t, 12), store.Open(t.TempDir())
	in(anchor, "type AnchorSpec struct {", "type AnchorSpec struct {\n"+field)(t, dir)
	settle(t, dir, keep)
	for _, tt := range []struct {
		name string
		edit func(t *testing.T, dir string)
		made bool
	}{
		{name: "nothing", edit: func(*testing.T, string) {}},
		{name: "lines above the field", edit: in(anchor, "package v1", "// Nothing.\n\n\npackage v1")},
		{name: "the field", edit: in(anchor, field, "\n"+field+"\tExtent int `json:\"extent,omitempty\"`\n"), made: true},
		{name: "another group", edit: in("api/harbor/v1beta1/convoy_types.go", "type ConvoySpec struct {", "type ConvoySpec struct {\n\t// New is new.\n\tNew int `json:\"new\"`\n")},
	} {
		tt.edit(t, dir)
		if _, made := again(t, dir, keep); slices.Contains(made, crd) != tt.made {
			t.Errorf("%s: made %s", tt.name, made)
		}
		warnings := warningsOf(t, dir, keep)
		if diff := cmp.Diff(warningsOf(t, dir, store.Open(t.TempDir())), warnings); diff != "" {
			t.Errorf("%s: warnings (-first run +later run):\n%s", tt.name, diff)
		}
		before, _, _ := strings.Cut(gentest.Tree(t, dir)[anchor], "\tCode string")
		at := slices.IndexFunc(warnings, func(w scaffold.Warning) bool { return w.File == anchor })
		if line := strings.Count(before, "\n") + 1; at < 0 || warnings[at].Line != line {
			t.Errorf("%s: no warning in line %d: %v", tt.name, line, warnings)
		}
	}
}

// warningsOf generates, and returns the warnings.
func warningsOf(t *testing.T, dir string, s *store.Store) []scaffold.Warning {
	t.Helper()
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Store: s, ThisYear: "2042"}, p); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.Warnings()
}
