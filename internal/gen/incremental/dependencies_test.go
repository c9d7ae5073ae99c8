package incremental_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"golang.org/x/tools/txtar"
)

const apes = `
-- api/v5/apes.go --
// Package v5 is new.
// +kubebuilder:object:generate=true
// +groupName=GROUP
package v5

import (
	IMPORTS
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ape is a kind.
// +kubebuilder:object:root=true
type Ape struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	FIELDS
}
`

// odd needs methods of core/v1 that no generator looks for.
const odd = `
-- api/v5/odd.go --
package v5

import corev1 "k8s.io/api/core/v1"

var size = (&corev1.Pod{}).Size()

type sizer interface{ Size() int }

var _ sizer = &corev1.Pod{}

// Boxed has a type parameter.
type Boxed[T sizer] struct {
	Item *corev1.EnvVar ` + "`json:\"item\"`" + `
}

// Odd has an instance of it.
type Odd struct {
	Box  Boxed[*corev1.Pod] ` + "`json:\"box\"`" + `
	Pods []corev1.Pod       ` + "`json:\"pods\"`" + `
}
`

// ape returns the sources of a kind with the given fields.
func ape(group, imports, fields string) string {
	return strings.NewReplacer("GROUP", group, "IMPORTS", imports, "FIELDS", fields).Replace(apes)
}

// TestCachedDependencies generates after each of several edits with the cache of the
// previous runs, and compares with controller-gen.
func TestCachedDependencies(t *testing.T) {
	t.Parallel()
	args := []string{"crd", "object", "paths=./api/...", "output:dir=out", "output:object:artifacts:config=out"}
	dir, cache := gentest.Zoo(t), t.TempDir()
	s := store.Open(cache)
	for _, files := range []string{
		"", // first run
		"", // unchanged
		ape("apes.example.com", `corev1 "k8s.io/api/core/v1"`, "Env *corev1.EnvVar `json:\"env\"`"),                                                                                                 // cached types
		ape("apes.example.com", `corev1 "k8s.io/api/core/v1"`, "Affinity *corev1.Affinity `json:\"affinity\"`"),                                                                                     // types without a schema
		ape("apes.example.com", `corev1 "k8s.io/api/core/v1"`, "Probe *corev1.Probe `json:\"probe\"`"),                                                                                              // more types without a schema
		ape("apes.example.com", `corev1 "k8s.io/api/core/v1"`, "Affinity []corev1.Affinity `json:\"affinity\"`"),                                                                                    // types that have a schema now
		ape("apes.example.com", `policyv1 "k8s.io/api/policy/v1"`, "Budget *policyv1.PodDisruptionBudgetSpec `json:\"budget\"`"),                                                                    // another package
		ape("apes.example.com", "\"net/textproto\"\n\t\"sync\"", "Header textproto.MIMEHeader `json:\"-\"`\n\tMu *sync.Mutex `json:\"-\"`"),                                                         // another standard package
		ape("apes.example.com", "\"net/textproto\"\n\tpolicyv1 \"k8s.io/api/policy/v1\"", "Header textproto.MIMEHeader `json:\"-\"`\n\tBudget *policyv1.PodDisruptionBudgetSpec `json:\"budget\"`"), // two packages that were cached separately
		ape("apes.example.com", `"time"`, "Since *time.Month `json:\"-\"`\n\tFor map[string]time.Duration `json:\"-\"`"),                                                                            // a type of time
		odd, // calls of methods that the cache lacks
		"",  // unchanged after all edits
	} {
		edit(t, dir, files)
		newFast(t, dir, s, args).run(t)
		gentest.SameWithCache(t, dir, args, cache)
	}
}

// TestCachedGroup defines kinds in the API group of a cached package. If the package has
// the same kind, the library handles it as another version.
func TestCachedGroup(t *testing.T) {
	t.Parallel()
	const imports, field = `networkingv1 "k8s.io/api/networking/v1"`, "TLS networkingv1.IngressTLS `json:\"tls\"`"
	args := []string{"crd", "paths=./api/v5", "output:dir=out"}
	dir, s := gentest.Zoo(t), store.Open(t.TempDir())
	edit(t, dir, ape("apes.example.com", imports, field))
	newFast(t, dir, s, args).run(t)
	if fresh := newFast(t, dir, s, args).run(t); len(fresh[0]) > 0 {
		t.Fatalf("the second run reads %q", fresh)
	}
	kind := strings.NewReplacer("Ape", "Ingress", "// +kubebuilder:object:root", "// +kubebuilder:storageversion\n// +kubebuilder:object:root", "v5/apes", "v5/ingress")
	edit(t, dir, ape("networking.k8s.io", imports, field)+kind.Replace(ape("networking.k8s.io", imports, field)))
	tries := newFast(t, dir, s, args).run(t)
	if len(tries) == 1 || !slices.Contains(tries[len(tries)-1], "k8s.io/api/networking/v1") {
		t.Errorf("read %q, want k8s.io/api/networking/v1 in the last attempt", tries)
	}
	gentest.SameInBoth(t, dir, args)
	files, _ := gentest.Operon(t, dir, args)
	if got := files["out/networking.k8s.io_ingresses.yaml"]; !strings.Contains(got, "name: v1\n") {
		t.Errorf("the library no longer adds the version of the cached package:\n%s", got)
	}
}

func edit(t *testing.T, dir, files string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(files)).Files {
		gentest.WriteFile(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
	}
}

// fast is an update from a listing, step by step, without prebuilt packages.
type fast struct {
	*incremental.Update
}

func newFast(t *testing.T, dir string, s *store.Store, args []string, env ...string) *fast {
	t.Helper()
	q, j := newQuery(t, dir, s, args, env...)
	g, err := q.List(t.Context())
	if err != nil {
		t.Fatal("not listed:", err)
	}
	ids := depcache.NewIdentities(q.Settings.Root, q.Settings.ModCache)
	f := &fast{incremental.NewUpdate(q.Project, j, incremental.NewLibrary(q.Arch, j, g.Identity(ids.Of)), g)}
	f.Library.Cache.Prebuilt = false
	return f
}

func newQuery(t *testing.T, dir string, s *store.Store, args []string, env ...string) (*load.Query, *request.Job) {
	t.Helper()
	p := gentest.NewPlan(t, dir)
	j, err := gentest.Job(request.Request{Dir: dir, Args: args, Store: s, ThisYear: "2042"}, p)
	if err != nil {
		t.Fatal(err)
	}
	src, err := overlay.New(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(src.Close)
	q, err := load.NewQuery(t.Context(), src, j.Paths, slices.Concat(os.Environ(), env))
	if err != nil {
		t.Fatal(err)
	}
	return q, j
}

// run returns the paths of packages that could have been cached and were read from their
// sources, by attempt.
func (f *fast) run(t *testing.T) (tries [][]string) {
	t.Helper()
	for {
		a := f.Try(t.Context(), false)
		if a.Loaded == nil {
			t.Fatal("not loaded")
		}
		var fresh []string
		for _, p := range a.Loaded.Fresh {
			if _, ok := f.Library.Identity(p.Path); ok {
				fresh = append(fresh, p.Path)
			}
		}
		tries = append(tries, fresh)
		if f.Library.Lacks(a.Set.Deps) {
			continue
		}
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		f.keep(a.Set, a.Loaded)
		return tries
	}
}

func (f *fast) keep(set *load.Set, loaded *golist.Loaded) {
	f.Library.Keep(set.Deps, loaded.Fresh)
}
