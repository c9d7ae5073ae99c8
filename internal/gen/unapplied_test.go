package gen_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/scaffold"
)

// TestUnapplied plans several times without applying, like dry runs, so the files stay out
// of date.
func TestUnapplied(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	keep := store.Open(t.TempDir())
	plan := func(s *store.Store) *scaffold.Plan {
		t.Helper()
		time.Sleep(60 * time.Millisecond) // files are old enough to be known by their stamps
		p := gentest.NewPlan(t, dir)
		if err := gen.Plan(t.Context(), request.Request{Dir: dir, ThisYear: "2042", Store: s}, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := plan(keep).Apply(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	plan(keep)
	for name, edit := range map[string][2]string{
		"internal/controller/lion_controller.go": {"resources=lions,", "resources=lions;cubs,"},
		"api/v1/lion_types.go":                   {"type LionSpec struct {", "type LionSpec struct {\n\tMore *int `json:\"more,omitempty\"`\n"},
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		gentest.WriteFile(t, name, []byte(strings.Replace(string(src), edit[0], edit[1], 1)))
	}
	want := gentest.Outcome(plan(nil))
	for range 3 {
		if diff := cmp.Diff(want, gentest.Outcome(plan(keep))); diff != "" {
			t.Fatalf("(-from nothing +from the record):\n%s", diff)
		}
	}
}
