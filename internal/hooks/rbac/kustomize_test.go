//go:build testall

package rbac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/roles"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// These files of a project surround role.yaml. A transformer sets the namespace of its
// objects instead of the field namespace.
const (
	kustomization = `
namePrefix: copier-
resources: [../rbac, ../manager]
transformers: [namespace.yaml]
`
	transformer = `
apiVersion: builtin
kind: NamespaceTransformer
metadata: {name: namespace, namespace: copier-system}
setRoleBindingSubjects: allServiceAccounts
unsetOnly: true
`
	accounts = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: controller-manager}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager-role}
subjects: [{kind: ServiceAccount, name: controller-manager}]
`
	manager = `
apiVersion: v1
kind: Namespace
metadata: {name: copier-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
spec: {template: {spec: {serviceAccountName: controller-manager}}}
`
)

// TestKustomize builds a project with roles in several namespaces. Roles keep their
// namespaces, and all bindings have the namespace of the account.
func TestKustomize(t *testing.T) {
	t.Parallel()
	const marker = "# " + markerName + `:groups="",resources=secrets,verbs=get`
	script := strings.Replace(marker, "secrets", "pods", 1) + "\n" + marker + ",namespace=copier-system\n" + marker + ",namespace=web\n" + marker + ",namespace=db,resourceNames=z\n"
	r := derive(t, Input{Library: []Source{{"hooks/lib/a.sh", []byte(script)}}, Namespace: "copier-system"})
	roles, err := r.Roles.File(roles.Scaffolded)
	if err != nil {
		t.Fatal(err)
	}
	fsys := filesys.MakeFsInMemory()
	for name, content := range map[string]string{
		"config/default/kustomization.yaml": kustomization, "config/default/namespace.yaml": transformer,
		"config/rbac/kustomization.yaml": "resources: [accounts.yaml, role.yaml]\n", "config/rbac/accounts.yaml": accounts, "config/rbac/role.yaml": string(roles),
		"config/manager/kustomization.yaml": "resources: [manager.yaml]\n", "config/manager/manager.yaml": manager,
	} {
		if err := fsys.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, "config/default")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range built.Resources() {
		line := strings.TrimSpace(o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName())
		if subjects, err := o.GetSlice("subjects"); err == nil {
			s := subjects[0].(map[string]any)
			ref, err := o.GetString("roleRef.name")
			if err != nil {
				t.Fatal(err)
			}
			line += " " + ref + " to " + s["namespace"].(string) + "/" + s["name"].(string)
		}
		got = append(got, line)
	}
	want := []string{
		"Namespace /copier-system",
		"ServiceAccount copier-system/copier-controller-manager",
		"ClusterRole /copier-manager-role",
		"ClusterRoleBinding /copier-manager-rolebinding copier-manager-role to copier-system/copier-controller-manager",
		"Role copier-system/copier-manager-role",
		"RoleBinding copier-system/copier-manager-rolebinding copier-manager-role to copier-system/copier-controller-manager",
		"Role db/copier-manager-role",
		"RoleBinding db/copier-manager-rolebinding copier-manager-role to copier-system/copier-controller-manager",
		"Role web/copier-manager-role",
		"RoleBinding web/copier-manager-rolebinding copier-manager-role to copier-system/copier-controller-manager",
		"Deployment copier-system/copier-manager",
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	deployment, err := built.AsYaml()
	if err != nil || !strings.Contains(string(deployment), "serviceAccountName: copier-controller-manager") {
		t.Errorf("%v\n%s", err, deployment)
	}
}

// TestFile compares the file of a project, which has the origins of rules.
func TestFile(t *testing.T) {
	t.Parallel()
	content, err := derive(t, Input{Namespace: "own", Library: []Source{{"hooks/a.sh", []byte("# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n" +
		"# +kubebuilder:rbac:groups=\"\",resources=configmaps,resourceNames=x,verbs=get,namespace=own\n" +
		"# +kubebuilder:rbac:groups=\"\",resources=configmaps,resourceNames=x,verbs=delete;get,namespace=own\n")}}}).Roles.File(roles.Scaffolded)
	want := `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
# hooks/a.sh: marker (get)
- apiGroups:
  - apps
  resources:
  - deployments
  verbs:
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: manager-role
rules:
# hooks/a.sh: marker (delete, get)
- apiGroups:
  - ""
  resourceNames:
  - x
  resources:
  - configmaps
  verbs:
  - delete
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: manager-rolebinding
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: manager-role
subjects:
- kind: ServiceAccount
  name: controller-manager
`
	if diff := cmp.Diff(want, string(content)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
