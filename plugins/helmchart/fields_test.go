//go:build testall

package helmchart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/scaffold"
)

// TestFieldsOfManager leaves out each field of the Deployment, its pod and its container in turn, and gives it a value of each
// type. A chart is the same as config/default, or an error says why there is none; nothing panics. Which values an API server
// accepts is not the question here.
func TestFieldsOfManager(t *testing.T) {
	absent := any("leave it out")
	values := []any{absent, nil, "x", 1, 1.5, true, []any{}, []any{"x"}, []any{map[string]any{"name": "x"}}, map[string]any{}, map[string]any{"x": "y"}}
	of := map[string]func(deployment) map[string]any{
		"spec":      func(d deployment) map[string]any { return d.spec },
		"pod":       func(d deployment) map[string]any { return d.pod },
		"container": func(d deployment) map[string]any { return d.container },
	}
	charts, refused := 0, 0
	for name, mapping := range of {
		var keys []string
		changeManager(t, disk(t, "memcached"), func(d deployment) { keys = slices.Sorted(maps.Keys(mapping(d))) })
		for _, key := range append(keys, "hostAliases", "lifecycle", "replicas") {
			for _, value := range values {
				fsys := disk(t, "memcached")
				changeManager(t, fsys, func(d deployment) {
					if mapping(d)[key] = value; value == absent {
						delete(mapping(d), key)
					}
				})
				p, err := newPlan(t, fsys, scaffold.Options{Command: "test"})
				if err != nil {
					if refused++; strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "runtime error") {
						t.Errorf("%s.%s: %v: %v", name, key, value, err)
					}
					continue
				}
				charts++
				if value == absent && !slices.Contains([]string{"selector", "template", "containers", "name", "image"}, key) {
					files, err := p.ReadBelow("dist/chart")
					if err != nil {
						t.Fatal(err)
					}
					wantSame(t, fsys, files, "memcached")
					if t.Failed() {
						t.Fatalf("without %s.%s", name, key)
					}
				}
			}
		}
	}
	if charts < 50 || refused < 20 {
		t.Errorf("%d charts, %d errors: this compares little", charts, refused)
	}
}
