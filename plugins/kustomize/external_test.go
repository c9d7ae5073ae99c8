package kustomize

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// adopted returns a project without .operon, with resources whose roles and samples differ
// from the templates.
func adopted(t *testing.T, c *project.Config, resources ...project.Resource) afero.Fs {
	t.Helper()
	fsys := scaffolded(t, c, resources...)
	if err := fsys.RemoveAll(".operon"); err != nil {
		t.Fatal(err)
	}
	for name, content := range files(t, fsys) {
		if strings.HasSuffix(name, "_role.yaml") || path.Dir(name) == "config/samples" && path.Base(name) != kustomization {
			if err := afero.WriteFile(fsys, name, []byte("# of another tool\n"+content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fsys
}

// TestFilesOfAnotherTool checks that repeats and further versions keep the roles and the
// sample that another tool wrote.
func TestFilesOfAnotherTool(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		add   []project.Resource
		extra []string // files that come to the project
	}{
		{"repeated", []project.Resource{frigate}, nil},
		{"second version", []project.Resource{without(frigateV2)}, []string{"config/samples/ship_v2_frigate.yaml"}},
		{"replayed", []project.Resource{frigate, without(frigateV2)}, []string{"config/samples/ship_v2_frigate.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := adopted(t, c, frigate)
			before := files(t, fsys)
			p := newPlan(t, fsys, scaffold.Options{})
			for _, r := range test.add {
				c.Put(r)
				if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.CreateAPI, Project: c, Resource: &r}, p); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.Conflicts(); len(got) > 0 {
				t.Fatalf("conflicts: %v", got)
			}
			if err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			after := files(t, fsys)
			checkTree(t, after)
			for _, name := range test.extra {
				if _, ok := after[name]; !ok {
					t.Errorf("no %s", name)
				}
				delete(after, name)
				after[sampleEntries] = strings.Replace(after[sampleEntries], "- "+path.Base(name)+"\n", "", 1)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestForceReplacesFilesOfAnotherTool checks that --force replaces them.
func TestForceReplacesFilesOfAnotherTool(t *testing.T) {
	t.Parallel()
	c := config()
	want := files(t, scaffolded(t, c, frigate))
	fsys := adopted(t, c, frigate)
	p := newPlan(t, fsys, scaffold.Options{Force: true})
	if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.CreateAPI, Project: c, Resource: &frigate}, p); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := files(t, fsys)
	for _, name := range []string{"config/rbac/frigate_admin_role.yaml", "config/rbac/frigate_viewer_role.yaml", c.SamplePath(frigate)} {
		if got[name] != want[name] {
			t.Errorf("%s:\n%s", name, got[name])
		}
	}
}

// TestFilesWithBaseAreMerged checks that files that operon wrote are merged, and that
// overlapping edits are a conflict.
func TestFilesWithBaseAreMerged(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate)
	name := "config/rbac/frigate_admin_role.yaml"
	older := newPlan(t, fsys, scaffold.Options{})
	if err := errors.Join(older.Seed(name, 0, []byte("older\n")), older.Apply(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, name, []byte("user\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := newPlan(t, fsys, scaffold.Options{})
	if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.CreateAPI, Project: c, Resource: &frigate}, p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{name}, p.Conflicts()); diff != "" {
		t.Error(diff)
	}
}

// TestScopeInAnotherToolsProject checks that files follow the scope of the manager, also those
// that operon wrote into the project of another tool.
func TestScopeInAnotherToolsProject(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, captain)
	if err := fsys.RemoveAll(".operon"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []project.Resource{frigate, frigateV2} {
		if err := do(t, fsys, c, &r); err != nil {
			t.Fatal(err)
		}
	}
	before := files(t, fsys)
	rescope := func(namespaced bool) {
		t.Helper()
		old := c.Clone()
		c.Namespaced = namespaced
		if err := plan(t, fsys, plugin.Event{Type: plugin.Edit, Project: c, Before: old}); err != nil {
			t.Fatal(err)
		}
	}
	rescope(true)
	all := files(t, fsys)
	for _, name := range []string{"crew_v1alpha1_captain", "ship_v1_frigate", "ship_v2_frigate"} {
		if got := at(object(t, all, "config/samples/"+name+".yaml"), "metadata", "namespace"); got != "fleet-system" {
			t.Errorf("the sample %s is in the namespace %v", name, got)
		}
	}
	for _, name := range []string{"captain", "frigate"} {
		if got := object(t, all, "config/rbac/"+name+"_editor_role.yaml")["kind"]; got != "Role" {
			t.Errorf("the role for users of %s is a %v", name, got)
		}
	}
	rescope(false)
	if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
		t.Errorf("there and back: %s", diff)
	}
}
