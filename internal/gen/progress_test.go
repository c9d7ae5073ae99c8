package gen_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/request"
)

// TestProgress checks the progress of a run that reads all packages.
func TestProgress(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	var mu sync.Mutex
	var phases []string
	last := map[string][2]int{}
	ctx := progress.With(t.Context(), func(phase string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if len(phases) == 0 || phases[len(phases)-1] != phase {
			phases = append(phases, phase)
		}
		if total > 0 && done >= total {
			t.Errorf("%s: %d of %d are done while one is in progress", phase, done, total)
		}
		last[phase] = [2]int{done, total}
	})
	if err := gen.Plan(ctx, request.Request{Dir: dir, Args: []string{"crd", "object", "rbac:roleName=zoo", "paths=./..."}}, gentest.NewPlan(t, dir)); err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"listing packages", "reading packages", "generating crd", "generating object", "generating rbac"} {
		if !slices.Contains(phases, phase) {
			t.Errorf("phase %s is not reported: %q", phase, phases)
		}
	}
	if read := last["reading packages"]; read[0] < 3 || read[1] != 0 {
		t.Errorf("packages read: %v", read)
	}
	if crds := last["generating crd"]; crds[1] == 0 || crds[0] != crds[1]-1 {
		t.Errorf("CRDs: %v", crds)
	}
}
