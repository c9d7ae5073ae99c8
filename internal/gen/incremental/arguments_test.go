package incremental_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// argumentSets are calls that share a cache.
var argumentSets = map[string]request.Request{
	"all":               {},
	"manifests":         {Only: []string{"crd", "rbac", "webhook"}},
	"crd":               {Only: []string{"crd"}},
	"object":            {Only: []string{"object"}},
	"rbac":              {Only: []string{"rbac"}},
	"another folder":    {Args: []string{"crd", "rbac:roleName=manager-role", "paths=./...", "output:dir=out"}},
	"the root":          {Args: []string{"crd", "paths=./...", "output:dir=."}},
	"a deeper folder":   {Args: []string{"rbac:roleName=manager-role,fileName=a/b.yaml", "webhook", "paths=./...", "output:dir=out"}},
	"the same, moved":   {Args: []string{"rbac:roleName=manager-role,fileName=a/b.yaml", "webhook", "paths=./...", "output:dir=deep/out"}},
	"code in a folder":  {Args: []string{"object", "paths=./api/v1", "output:object:dir=code"}},
	"other options":     {Args: []string{"crd:maxDescLen=3", "paths=./...", "output:crd:dir=short"}},
	"some packages":     {Paths: []string{"./api/v1"}},
	"crd of these":      {Paths: []string{"./api/v1"}, Only: []string{"crd"}},
	"object with a tag": {Args: []string{"object:headerFile=hack/boilerplate.go.txt", "paths=./..."}},
}

// TestArgumentSets generates with sets of arguments in a random order between edits in a random order. All
// runs have one store. Each has the outputs and warnings of a run without a store.
func TestArgumentSets(t *testing.T) {
	t.Parallel()
	useArgumentSets(t, 1, 2)
}

// useArgumentSets makes all edits, and generates with some of the sets after each of them.
func useArgumentSets(t *testing.T, seed uint64, setsPerEdit int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	dir, keep := gentest.Zoo(t), store.Open(t.TempDir())
	var next []string
	for step, change := range random.Perm(len(zooChanges)) {
		for range setsPerEdit {
			if len(next) == 0 {
				next = sortedNames(argumentSets)
				random.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
			}
			if err := compareWithNone(t, dir, keep, argumentSets[next[0]], random.IntN(3) > 0); err != nil {
				t.Fatalf("step %d, %s: %v", step, next[0], err)
			}
			next = next[1:]
		}
		zooChanges[change](t, dir, step)
	}
}

// compareWithNone compares a run that has a store with one that has none, and applies its plan if
// asked.
func compareWithNone(t *testing.T, dir string, keep *store.Store, r request.Request, apply bool) error {
	t.Helper()
	r.Dir, r.ThisYear = dir, "2042"
	want := gentest.NewPlan(t, dir)
	wantErr := gen.Plan(t.Context(), r, want)
	r.Store = keep
	got := gentest.NewPlan(t, dir)
	if is, want := fmt.Sprint(gen.Plan(t.Context(), r, got)), fmt.Sprint(wantErr); is != want {
		return fmt.Errorf("error %s, want %s", is, want)
	}
	if diff := cmp.Diff(gentest.Outcome(want), gentest.Outcome(got)); diff != "" {
		return fmt.Errorf("(-without +with a store):\n%s", diff)
	}
	if wantErr != nil || !apply {
		return nil
	}
	return got.Apply(context.WithoutCancel(t.Context()))
}

// zooChanges edit sources, or what was generated from them.
var zooChanges = []func(t *testing.T, dir string, step int){
	func(t *testing.T, dir string, step int) {
		gentest.Replace(t, filepath.Join(dir, "api/v1/lion_types.go"), "type LionSpec struct {", fmt.Sprintf("type LionSpec struct {\n\tMore%d *int `json:\"more%d,omitempty\"`\n", step, step))
	},
	func(t *testing.T, dir string, step int) {
		gentest.Replace(t, filepath.Join(dir, "internal/shared/shared.go"), "type Cage struct {",
			fmt.Sprintf("type Cage struct {\n\tDeep%d []string `json:\"deep%d,omitempty\"`\n", step, step))
	},
	func(t *testing.T, dir string, step int) {
		gentest.Replace(t, filepath.Join(dir, "internal/controller/lion_controller.go"), "resources=lions", fmt.Sprintf("resources=lions;cubs%d", step))
	},
	func(t *testing.T, dir string, step int) {
		gentest.WriteFile(t, filepath.Join(dir, "api/v1", fmt.Sprintf("tiger%d_types.go", step)),
			[]byte(strings.ReplaceAll(gentest.Tiger, "Tiger", fmt.Sprintf("Tiger%d", step))))
	},
	func(t *testing.T, dir string, _ int) {
		for _, folder := range []string{"out", "deep", "config"} {
			drop(t, dir, folder)
		}
	},
	func(t *testing.T, dir string, _ int) {
		gentest.WriteFile(t, filepath.Join(dir, "out/zoo.example.com_lions.yaml"), []byte("mine: true\n"))
	},
}

// TestPlannedRecord generates for sources that are only planned. The next run uses the record, if the
// plan was applied, and has the right outputs if it was not.
func TestPlannedRecord(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		dir, keep := gentest.Zoo(t), store.Open(t.TempDir())
		settle(t, dir, keep)
		p := gentest.NewPlan(t, dir)
		if err := p.Seed("api/v1/tiger_types.go", 0o644, []byte(gentest.Tiger)); err != nil {
			t.Fatal(err)
		}
		r := request.Request{Dir: dir, ThisYear: "2042", Store: keep}
		if err := gen.Plan(t.Context(), r, p); err != nil {
			t.Fatal(err)
		}
		if applied {
			if err := p.Apply(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		if err := compareWithNone(t, dir, keep, request.Request{}, true); err != nil {
			t.Errorf("applied %v: %v", applied, err)
		}
	}
}

func sortedNames[V any](all map[string]V) []string {
	return slices.Sorted(maps.Keys(all))
}
