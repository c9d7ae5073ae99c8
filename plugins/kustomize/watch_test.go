package kustomize

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/templates"
)

// recipes returns the kustomizations from the README of a namespaced project: for another
// namespace, and for webhooks.
func recipes(t *testing.T, name, namespace string) (watch, webhooks string) {
	t.Helper()
	readme, err := fs.ReadFile(templates.FS, "golang/init/README.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("{{ .Project.Namespace }}", namespace, "{{ .Project.ProjectName }}", name).Replace(string(readme))
	blocks := strings.Split(text, "```yaml\n")
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of YAML in the README", len(blocks)-1)
	}
	watch, _, _ = strings.Cut(blocks[1], "```")
	webhooks, _, _ = strings.Cut(blocks[2], "```")
	return watch, webhooks
}

func TestRecipeForNamespaces(t *testing.T) {
	t.Parallel()
	c := config()
	c.Namespaced = true
	fsys := scaffolded(t, c, frigate, destroyer) // destroyers are cluster-scoped
	webhook(t, fsys, c, served(frigate, "v"))
	watch, webhooks := recipes(t, c.ProjectName, c.Namespace())
	const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: manager-role
  namespace: fleet-system
rules:
- apiGroups: [ship.example.org]
  resources: [frigates]
  verbs: [get, list, watch]
`
	write(t, fsys, managerRole, role)
	write(t, fsys, "config/watch/team-a/"+kustomization, watch)
	got := build(t, fsys, c, "config/watch/team-a")
	want := []string{"Role/fleet-frigate-admin-role", "Role/fleet-frigate-editor-role", "Role/fleet-frigate-viewer-role",
		"Role/fleet-manager-role", "RoleBinding/fleet-manager-rolebinding"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Error(diff)
	}
	for name, o := range got {
		if at(o, "metadata", "namespace") != "team-a" {
			t.Errorf("%s is in namespace %v", name, at(o, "metadata", "namespace"))
		}
	}
	binding, deployed := got["RoleBinding/fleet-manager-rolebinding"], build(t, fsys, c, "config/default")["RoleBinding/fleet-manager-rolebinding"]
	for _, key := range []string{"roleRef", "subjects"} {
		if diff := cmp.Diff(at(deployed, key), at(binding, key)); diff != "" {
			t.Errorf("%s differs from config/default: %s", key, diff)
		}
	}

	write(t, fsys, webhookEntries, files(t, fsys)[webhookEntries]+webhooks)
	hook := at(build(t, fsys, c, "config/default")["ValidatingWebhookConfiguration/fleet-validating-webhook-configuration"], "webhooks").([]any)[0]
	expression := at(hook, "namespaceSelector", "matchExpressions").([]any)[0]
	if diff := cmp.Diff([]any{"fleet-system", "team-a"}, at(expression, "values")); diff != "" {
		t.Error(diff)
	}
}
