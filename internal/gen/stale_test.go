package gen_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

const (
	fishCRD  = "config/crd/bases/aqua.example.com_nfs.yaml"
	fishCopy = "api/aqua/v1alpha1/zz_generated.deepcopy.go"
)

// TestStale removes a kind after its files were generated.
func TestStale(t *testing.T) {
	t.Parallel()
	kustomization := "resources:\n- bases/zoo.example.com_lions.yaml\n- bases/aqua.example.com_nfs.yaml\n"
	const role = "config/rbac/role.yaml:0:0: [stale-role] no marker +kubebuilder:rbac requires these rules any more; remove what the manager does not need\n"
	var files map[string]string
	tests := []struct {
		name    string
		disk    func(t *testing.T, dir string) // between the runs
		request request.Request
		removed []string
		want    string
	}{
		{
			name:    "untouched files go",
			removed: []string{fishCopy, fishCRD, "config/webhook/manifests.yaml"},
			want: fishCopy + ":0:0: [stale-removed] nothing generates this file any more\n" +
				fishCRD + ":0:0: [stale-removed] nothing generates this file any more; config/crd/kustomization.yaml:3 lists it, remove that line\n" +
				role + "config/webhook/manifests.yaml:0:0: [stale-removed] nothing generates this file any more\n",
		},
		{
			name: "edited files stay",
			disk: func(t *testing.T, dir string) {
				gentest.WriteFile(t, filepath.Join(dir, fishCRD), []byte("mine: true\n"))
			},
			request: request.Request{Only: []string{"crd"}},
			want:    fishCRD + ":0:0: [stale-edited] nothing generates this file any more; it was edited, so it stays; config/crd/kustomization.yaml:3 lists it, remove that line\n",
		},
		{
			name: "files of controller-gen stay",
			request: request.Request{Project: &project.Config{Domain: "example.com", MultiGroup: true, Resources: []project.Resource{
				{Group: "aqua", Domain: "example.com", Version: "v1alpha1", Kind: "NFS", API: &project.API{}}}}},
			disk: func(t *testing.T, dir string) {
				if err := os.RemoveAll(filepath.Join(dir, ".operon")); err != nil {
					t.Fatal(err)
				}
				gentest.WriteFile(t, filepath.Join(dir, "config/crd/bases/other.yaml"), []byte("kind: CustomResourceDefinition\n"))
				// The CRD of a kind that PROJECT does not have is a copy.
				gentest.WriteFile(t, filepath.Join(dir, "config/crd/bases/aqua.example.com_copies.yaml"), []byte(strings.ReplaceAll(files[fishCRD], "kind: NFS", "kind: Copy")))
				gentest.WriteFile(t, filepath.Join(dir, "config/webhook/mine.yaml"), []byte("kind: Service\n"))
				gentest.WriteFile(t, filepath.Join(dir, "api/aqua/v1alpha1/doc.go"), []byte("package v1alpha1\n"))
				gentest.WriteFile(t, filepath.Join(dir, "internal/shared/zz_generated.deepcopy.go"), []byte("package shared\n"))
			},
			want: fishCRD + ":0:0: [stale-unrecorded] nothing generates this file any more; operon did not write it, so it stays; config/crd/kustomization.yaml:3 lists it, remove that line\n" +
				"config/webhook/manifests.yaml:0:0: [stale-unrecorded] nothing generates this file any more; operon did not write it, so it stays\n" +
				fishCopy + ":0:0: [stale-unrecorded] nothing generates this file any more; operon did not write it, so it stays\n",
		},
		{name: "with other paths, nothing is stale", request: request.Request{Paths: []string{"./api/v1"}}},
		{name: "with another output folder, nothing is stale", request: request.Request{Args: []string{"output:dir=elsewhere"}}},
		{name: "a role that the user maintains", request: request.Request{Only: []string{"rbac"}},
			disk: func(t *testing.T, dir string) {
				gentest.WriteFile(t, filepath.Join(dir, "config/rbac/role.yaml"), []byte("kind: ClusterRole\n"))
			}},
		{name: "only what ran", request: request.Request{Only: []string{"rbac", "webhook"}}, removed: []string{"config/webhook/manifests.yaml"},
			want: role + "config/webhook/manifests.yaml:0:0: [stale-removed] nothing generates this file any more\n"},
	}
	zoo := gentest.Zoo(t)
	gentest.WriteFile(t, filepath.Join(zoo, "config/crd/kustomization.yaml"), []byte(kustomization))
	first := gentest.NewPlan(t, zoo)
	if err := gen.Plan(t.Context(), request.Request{Dir: zoo}, first); err != nil {
		t.Fatal(err)
	}
	if err := first.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	files = gentest.Tree(t, zoo)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range files {
				gentest.WriteFile(t, filepath.Join(dir, name), []byte(content))
			}
			for _, name := range []string{"api/aqua/v1alpha1/fish_types.go", "internal/webhook/lion_webhook.go", "internal/controller/lion_controller.go"} {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			if tt.disk != nil {
				tt.disk(t, dir)
			}
			p := gentest.NewPlan(t, dir)
			tt.request.Dir = dir
			if err := gen.Plan(t.Context(), tt.request, p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, gentest.Warnings(p)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			var removed []string
			for _, c := range p.Changes() {
				if c.Op == scaffold.Delete {
					removed = append(removed, c.Path)
				}
			}
			if diff := cmp.Diff(tt.removed, removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			if !p.Exists("config/rbac/role.yaml") {
				t.Error("the role is missing")
			}
		})
	}
}

// TestRepeatChangesNothing generates twice.
func TestRepeatChangesNothing(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	for i := range 2 {
		p := gentest.NewPlan(t, dir)
		if err := gen.Plan(t.Context(), request.Request{Dir: dir, ThisYear: "2042"}, p); err != nil {
			t.Fatal(err)
		}
		if i == 1 && len(p.Changes())+len(p.Warnings()) > 0 {
			t.Errorf("changes %v, warnings %s", slices.Sorted(maps.Keys(gentest.Generated(p))), gentest.Warnings(p))
		}
		if err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListedMissing expects the warning as long as the kustomization lists a missing
// file.
func TestListedMissing(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	gentest.WriteFile(t, filepath.Join(dir, "config/crd/kustomization.yaml"),
		[]byte("resources:\n- bases/zoo.example.com_lions.yaml\n# - bases/commented.yaml\n- \"bases/gone.yaml\"\n- other.yaml\n- ../rbac/none.yaml\n"))
	for range 2 {
		p := gentest.NewPlan(t, dir)
		if err := gen.Plan(t.Context(), request.Request{Dir: dir, ThisYear: "2042"}, p); err != nil {
			t.Fatal(err)
		}
		const want = "config/crd/kustomization.yaml:4:0: [listed-missing] it lists bases/gone.yaml, which does not exist and which nothing generates; remove the line\n"
		if diff := cmp.Diff(want, gentest.Warnings(p)); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
		if err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHiddenFolder moves generated API types to where the paths do not reach them, and
// expects what was generated for them to stay.
func TestHiddenFolder(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, moved, want string }{
		{"a link to a folder that the paths reach", "types", ""},
		{"a link to a folder that they do not reach", "_types",
			"api/aqua/v1alpha1:0:0: [folder-hidden] nothing is generated for this folder: ./... does not reach it (paths do not follow symbolic links); what was generated stays\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			zoo := gentest.Zoo(t)
			first := gentest.NewPlan(t, zoo)
			if err := gen.Plan(t.Context(), request.Request{Dir: zoo}, first); err != nil {
				t.Fatal(err)
			}
			if err := first.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			aqua := filepath.Join(zoo, "api", "aqua")
			if err := os.Rename(aqua, filepath.Join(zoo, tt.moved)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join("..", tt.moved), aqua); err != nil {
				t.Skip("this system has no symbolic links:", err)
			}
			p := gentest.NewPlan(t, zoo)
			if err := gen.Plan(t.Context(), request.Request{Dir: zoo}, p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, gentest.Warnings(p)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			for _, name := range []string{fishCopy, fishCRD} {
				if !p.Exists(name) {
					t.Errorf("%s is removed", name)
				}
			}
		})
	}
}
