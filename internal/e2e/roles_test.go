//go:build testall

package e2e

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testUserRoles binds each role for users in one namespace and checks their permissions.
func testUserRoles(t *testing.T, c *controlPlane, all []*unstructured.Unstructured) {
	read := []string{"get", "list", "watch"}
	verbs := map[string][]string{
		"viewer": read,
		"editor": append([]string{"create", "delete", "patch", "update"}, read...),
		"admin":  {"*"},
	}
	nobody := user(t, c, "nobody")
	for _, crd := range ofKind(all, "CustomResourceDefinition") {
		plural, group, _ := strings.Cut(crd.GetName(), ".")
		for level, may := range verbs {
			role := roleFor(t, all, group, plural, level)
			namespace := cmp.Or(role.GetNamespace(), "default")
			bind(t, c, role, namespace)
			want := permissions{}
			want.add([]string{group}, []string{plural}, may)
			want.add([]string{group}, []string{plural + "/status"}, []string{"get"})
			wantRules(t, user(t, c, role.GetName()), nobody, namespace, want)
			wantRules(t, user(t, c, role.GetName()), nobody, metav1.NamespaceSystem, permissions{})
		}
	}
}

// roleFor returns the role of a level, such as viewer, for a kind.
func roleFor(t *testing.T, all []*unstructured.Unstructured, group, plural, level string) *unstructured.Unstructured {
	t.Helper()
	for _, role := range ofKind(all, "Role", "ClusterRole") {
		rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
		if !strings.HasSuffix(role.GetName(), "-"+level+"-role") || len(rules) == 0 {
			continue
		}
		first := rules[0].(map[string]any)
		if gocmp.Equal(first["apiGroups"], []any{group}) && gocmp.Equal(first["resources"], []any{plural}) {
			return role
		}
	}
	t.Fatalf("no %s role for %s.%s", level, plural, group)
	return nil
}

// bind binds a role in a namespace to a user with the name of the role.
func bind(t *testing.T, c *controlPlane, role *unstructured.Unstructured, namespace string) {
	t.Helper()
	_, err := c.client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.GetName()},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.GetKind(), Name: role.GetName()},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: role.GetName()}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
