package kustomize

import (
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

func TestCreateAPI(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		multigroup bool
		resources  []project.Resource
		roles      []string // prefixes of the role files
		samples    []string
		crds       []string
	}{
		{"two groups", true, []project.Resource{frigate, captain, s3},
			[]string{"ship_frigate", "crew_captain", "s3"},
			[]string{"ship_v1_frigate.yaml", "crew_v1alpha1_captain.yaml", "v1_s3.yaml"},
			[]string{"bases/ship.example.org_frigates.yaml", "bases/crew.example.org_captains.yaml", "bases/example.org_s3s.yaml"}},
		{"repeated", false, []project.Resource{s3, s3},
			[]string{"s3"}, []string{"v1_s3.yaml"}, []string{"bases/example.org_s3s.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			c.MultiGroup = test.multigroup
			all := files(t, scaffolded(t, c, test.resources...))
			checkTree(t, all)
			if diff := cmp.Diff(test.crds, entries(t, all, crdEntries)); diff != "" {
				t.Errorf("CRDs: %s", diff)
			}
			if diff := cmp.Diff(test.samples, entries(t, all, sampleEntries)); diff != "" {
				t.Errorf("samples: %s", diff)
			}
			var roles []string
			for _, r := range test.roles {
				roles = append(roles, r+"_admin_role.yaml", r+"_editor_role.yaml", r+"_viewer_role.yaml")
			}
			if diff := cmp.Diff(roles, entries(t, all, rbacEntries)[8:]); diff != "" {
				t.Errorf("roles: %s", diff)
			}
			if !slices.Contains(entries(t, all, defaultEntries), "../crd") {
				t.Error("config/default does not list the CRDs")
			}
		})
	}
}

// TestClusterKindOfNamespacedManager checks that a namespaced manager is bound to the
// ClusterRole for cluster-scoped kinds, even if the controller is added later.
func TestClusterKindOfNamespacedManager(t *testing.T) {
	t.Parallel()
	const binding = "config/rbac/cluster_role_binding.yaml"
	later := destroyer
	later.API = nil
	for _, test := range []struct {
		name       string
		namespaced bool
		resources  []project.Resource
		want       bool
	}{
		{"no controller", true, []project.Resource{without(destroyer)}, false},
		{"controller added later", true, []project.Resource{without(destroyer), later}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			c.Namespaced = test.namespaced
			fsys := scaffolded(t, c, test.resources[0])
			for _, r := range test.resources[1:] {
				if err := plan(t, fsys, plugin.Event{Type: plugin.CreateAPI, Project: c, Resource: &r}); err != nil {
					t.Fatal(err)
				}
			}
			all := files(t, fsys)
			checkTree(t, all)
			if _, got := all[binding]; got != test.want {
				t.Errorf("binding: %t, want %t", got, test.want)
			}
			if got := slices.Contains(entries(t, all, rbacEntries), path.Base(binding)); got != test.want {
				t.Errorf("listed: %t, want %t", got, test.want)
			}
		})
	}
}

// TestWordsStayText checks that names that YAML would read as another type are quoted.
func TestWordsStayText(t *testing.T) {
	t.Parallel()
	c := config()
	c.ProjectName = "123"
	r := null
	r.Plural = "on"
	all := files(t, scaffolded(t, c, r))
	sample := object(t, all, "config/samples/ship_v1_null.yaml")
	if got := at(sample, "kind"); got != "Null" {
		t.Errorf("kind reads as %v", got)
	}
	if got := at(sample, "metadata", "labels", "app.kubernetes.io/name"); got != "123" {
		t.Errorf("label reads as %v", got)
	}
	rule := at(object(t, all, "config/rbac/null_admin_role.yaml"), "rules").([]any)[0]
	if diff := cmp.Diff([]any{"on"}, at(rule, "resources")); diff != "" {
		t.Error(diff)
	}
}
