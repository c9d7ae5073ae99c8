//go:build testall

package rbac

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestGrants compares requests with rules as an API server's authorizer does.
func TestGrants(t *testing.T) {
	t.Parallel()
	var roles []*unstructured.Unstructured
	for _, text := range []string{
		`{kind: ClusterRole, metadata: {name: a}, rules: [{verbs: [get, list], apiGroups: [""], resources: [pods]}, {verbs: ["*"], apiGroups: [apps], resources: ["*/status"]},
		  {verbs: [get, list], apiGroups: [""], resources: [secrets], resourceNames: [x]}]}`,
		`{kind: Role, metadata: {name: a}, rules: [{verbs: [create], apiGroups: [""], resources: [configmaps]}]}`,
		`{kind: Role, metadata: {name: a, namespace: web}, rules: [{verbs: [delete], apiGroups: ["*"], resources: ["*"]}]}`,
		`{kind: RoleBinding, metadata: {name: a}}`,
	} {
		role := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &role.Object); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, role)
	}
	grants, err := GrantsOf(roles)
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[Request]bool{
		{Verb: "get", Resource: "pods", Namespace: "web", Name: "x"}:                                       true,
		{Verb: "list", Resource: "pods"}:                                                                   true,
		{Verb: "delete", Resource: "pods", Namespace: "default", Name: "x"}:                                false,
		{Verb: "delete", Resource: "pods", Namespace: "web", Name: "x"}:                                    true,
		{Verb: "get", Group: "apps", Resource: "pods"}:                                                     false,
		{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "other"}: true,
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "other"}:                        false,
		{Verb: "get", Resource: "secrets", Namespace: "a", Name: "x"}:                                      true,
		{Verb: "get", Resource: "secrets", Namespace: "a", Name: "y"}:                                      false,
		{Verb: "list", Resource: "secrets", Namespace: "a"}:                                                false,
		{Verb: "create", Resource: "configmaps", Namespace: "default"}:                                     true,
		{Verb: "create", Resource: "configmaps", Namespace: "ops"}:                                         true,
		{Verb: "create", Resource: "configmaps", Namespace: "web"}:                                         false,
	} {
		if got := grants.Allow(request, "default", "ops"); got != want {
			t.Errorf("%s: allowed %v, want %v", request, got, want)
		}
	}
	r := Request{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "web", Name: "x"}
	if got, want := r.String(), `patch deployments.apps/status "x" in namespace web`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := r.Marker(), "# "+markerName+":groups=apps,resources=deployments/status,verbs=patch"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
