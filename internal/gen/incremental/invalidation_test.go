package incremental_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/corpus"
)

// TestDirty edits a project of two API groups, one of which has two versions, and checks
// which packages are loaded again and which outputs are generated.
func TestDirty(t *testing.T) {
	t.Parallel()
	start := gentest.Corpus(t, 12)
	gentest.WriteFile(t, filepath.Join(start, "other", "other.go"), []byte("// Package other has types.\npackage other\n\n// Word is one.\ntype Word string\n"))
	compass := filepath.Join("api", "harbor", "v1", "compass_types.go") // refers to other
	gentest.Replace(t, filepath.Join(start, compass), "import (", "import (\n\t\"example.com/corpus/other\"")
	gentest.Replace(t, filepath.Join(start, compass), "type CompassSpec struct {", "type CompassSpec struct {\n\t// Word is one.\n\tWord other.Word `json:\"word\"`\n")
	keep := store.Open(t.TempDir())
	settle(t, start, keep)
	files := gentest.Tree(t, start)

	const crds, fleet = "config/crd/bases/", "api/fleet/v1/"
	harbor := []string{"api/harbor/v1", "api/harbor/v1beta1"}
	both := []string{crds + "harbor.example.com_compassen.yaml", crds + "harbor.example.com_convoys.yaml"}
	code := func(dirs ...string) (names []string) {
		for _, dir := range dirs {
			names = append(names, dir+"/"+request.DeepcopyFile)
		}
		return names
	}
	for name, tt := range map[string]struct {
		edit  func(t *testing.T, dir string)
		roots []string // below the module
		made  []string
	}{
		"nothing": {edit: func(*testing.T, string) {}},
		"field of a kind": {
			edit:  in(fleet+"anchor_types.go", "type AnchorSpec struct {", "type AnchorSpec struct {\n\t// New is new.\n\tNew int `json:\"new\"`\n"),
			roots: []string{"api/fleet/v1"}, made: append(code("api/fleet/v1"), crds+"fleet.example.com_anchors.yaml"),
		},
		"type of all kinds in a group": {
			edit:  in(fleet+"shared_types.go", "type CommonSpec struct {", "type CommonSpec struct {\n\t// New is new.\n\tNew int `json:\"new\"`\n"),
			roots: []string{"api/fleet/v1"}, made: append(code("api/fleet/v1"), all(files, crds+"fleet")...),
		},
		"comment without meaning": {
			edit:  in(fleet+"anchor_types.go", "package v1", "package v1\n\n// Nothing."),
			roots: []string{"api/fleet/v1"}, made: code("api/fleet/v1"),
		},
		"marker of a kind": {
			edit:  in(fleet+"anchor_types.go", "// +kubebuilder:object:root=true", "// +kubebuilder:object:root=true\n// +kubebuilder:resource:shortName=new"),
			roots: []string{"api/fleet/v1"}, made: append(code("api/fleet/v1"), crds+"fleet.example.com_anchors.yaml"),
		},
		"one of two versions": {
			edit:  in("api/harbor/v1beta1/convoy_types.go", "type ConvoySpec struct {", "type ConvoySpec struct {\n\t// New is new.\n\tNew int `json:\"new\"`\n"),
			roots: harbor, made: append(code(harbor...), both[1]),
		},
		"package that a type refers to": {
			edit:  in("other/other.go", "// Word is one.", "// Word is one.\n// +kubebuilder:validation:MaxLength=3"),
			roots: append(slices.Clone(harbor), "other"), made: append(code(harbor...), both[0]),
		},
		"body of a function": {
			edit:  in("internal/controller/fleet/anchor_controller.go", "return ctrl.Result{}, client", "return ctrl.Result{RequeueAfter: 1}, client"),
			roots: []string{"internal/controller/fleet"},
		},
		"role": {
			edit:  in("internal/controller/fleet/anchor_controller.go", "// +kubebuilder:rbac:groups=fleet.example.com,resources=anchors,verbs=", "// +kubebuilder:rbac:groups=fleet.example.com,resources=anchors,verbs=deletecollection;"),
			roots: []string{"internal/controller/fleet"}, made: []string{"config/rbac/role.yaml", "config/webhook/manifests.yaml"},
		},
		"deleted CRD": {
			edit:  func(t *testing.T, dir string) { drop(t, dir, both[0]) },
			roots: harbor, made: append(code(harbor...), both[0]),
		},
		"edited code": {
			edit:  in(code("api/fleet/v1")[0], "package v1", "package v1\n\n// Mine.\n"),
			roots: []string{"api/fleet/v1"}, made: code("api/fleet/v1"),
		},
		"deleted role": {
			edit: func(t *testing.T, dir string) { drop(t, dir, "config/rbac/role.yaml") },
			made: []string{"config/rbac/role.yaml", "config/webhook/manifests.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for name, content := range files { // in the same folder, because records are per folder
				if was, _ := os.ReadFile(filepath.Join(start, name)); string(was) != content {
					gentest.WriteFile(t, filepath.Join(start, name), []byte(content))
				}
			}
			tt.edit(t, start)
			roots, made := again(t, start, keep)
			if diff := cmp.Diff(tt.roots, roots); diff != "" {
				t.Errorf("loaded (-want +got):\n%s", diff)
			}
			slices.Sort(tt.made)
			if diff := cmp.Diff(tt.made, made); diff != "" {
				t.Errorf("made (-want +got):\n%s", diff)
			}
		})
	}
}

// settle generates twice, after which nothing changes.
func settle(t *testing.T, dir string, s *store.Store) {
	t.Helper()
	for range 2 {
		p := gentest.NewPlan(t, dir)
		if err := gen.Plan(t.Context(), request.Request{Dir: dir, Store: s, ThisYear: "2042"}, p); err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// again generates from the record without replacing it, and returns the roots that were
// loaded and the outputs that were generated.
func again(t *testing.T, dir string, s *store.Store) (roots, made []string) {
	t.Helper()
	q, j := newQuery(t, dir, s, nil)
	g, err := q.List(t.Context())
	if err != nil {
		t.Fatal("not listed:", err)
	}
	ids := depcache.NewIdentities(q.Settings.Root, q.Settings.ModCache)
	u := incremental.NextUpdate(q, j, incremental.NewLibrary(q.Arch, j, g.Identity(ids.Of)), g)
	a, err := u.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range u.DirtyRoots() {
		roots = append(roots, strings.TrimPrefix(root.ImportPath, corpus.Repo+"/"))
	}
	for _, o := range a.Made.Outputs {
		made = append(made, o.Path)
	}
	slices.Sort(roots)
	slices.Sort(made)
	return roots, made
}

func in(name, before, after string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		gentest.Replace(t, filepath.Join(dir, name), before, after)
	}
}

func drop(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// all returns the names of files with a prefix.
func all(files map[string]string, prefix string) (names []string) {
	for name := range files {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}
