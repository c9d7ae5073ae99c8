package rbac

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/store"
)

// TestDeriveCached checks that a report comes from the cache for the same files and options only.
func TestDeriveCached(t *testing.T) {
	t.Parallel()
	cache := store.Open(t.TempDir())
	first := map[string][]byte{"templates/a.yaml": []byte(configMap)}
	derive := func(files map[string][]byte, o Options, chart string) *Report {
		r, err := DeriveCached(context.Background(), cache, files, chartOf(t, chart), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const unseen = "-- templates/a.yaml --\n{{ if eq 1 2 }}\n" + configMap + "{{ end }}"
	r := derive(first, Options{}, unseen)
	if len(r.Findings) != 1 {
		t.Fatalf("findings: %v", r.Findings)
	}
	const other = "-- templates/a.yaml --\n" + configMap // which the cache does not see
	if diff := cmp.Diff(r, derive(first, Options{}, other)); diff != "" {
		t.Errorf("the same files (-first +second):\n%s", diff)
	}
	if cmp.Equal(r, derive(first, Options{Namespaced: true}, other)) {
		t.Error("other options have the same report")
	}
	if cmp.Equal(r, derive(map[string][]byte{}, Options{}, other)) {
		t.Error("other files have the same report")
	}
	if r, err := DeriveCached(context.Background(), nil, first, chartOf(t, other), Options{}); err != nil || len(r.Findings) > 0 {
		t.Errorf("without a cache: %v, %v", r, err)
	}
}
