package applyconfig

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResolveAliases has chains of aliases. What controller-gen does with them depends on the order of a map; operon
// always gives the result of the best order.
func TestResolveAliases(t *testing.T) {
	t.Parallel()
	alias := func(name, mapType string) map[string]any {
		return map[string]any{"$ref": definitionPrefix + name, "x-kubernetes-map-type": mapType}
	}
	definitions := map[string]any{
		"a": map[string]any{"type": "object"},
		"b": alias("a", "b"), "c": alias("b", "c"), "d": alias("c", "d"), "e": alias("elsewhere", "e"),
		"x": alias("y", "x"), "y": alias("x", "y"), // no Go code has this
	}
	resolveAliases(definitions)
	for name := range definitions {
		want := fmt.Sprint(map[string]any{"type": "object", "x-kubernetes-map-type": name})
		switch name {
		case "a":
			want = fmt.Sprint(map[string]any{"type": "object"})
		case "e":
			want = fmt.Sprint(alias("elsewhere", "e"))
		case "x", "y":
			continue
		}
		if diff := cmp.Diff(want, fmt.Sprint(definitions[name])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
