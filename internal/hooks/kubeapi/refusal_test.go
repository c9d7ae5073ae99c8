package kubeapi

import (
	"errors"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/output"
)

// TestExplain shortens refusals of an API server to one line, and says what helps.
func TestExplain(t *testing.T) {
	t.Parallel()
	const head = `x.rbac.authorization.k8s.io "x" is forbidden: user "system:serviceaccount:a:b" `
	const refused = head + `(groups=["system:serviceaccounts" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n"
	const pods = `{APIGroups:[""], Resources:["pods" "pods/log"], ResourceNames:["a"], Verbs:["get" "list"]}`
	const metrics = `{NonResourceURLs:["/metrics"], Verbs:["get"]}`
	lacks := head + "does not have the permissions that it would grant: "
	marker := "; add the marker # +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources="
	binding := func(role string) output.Operation {
		return output.Operation{Operation: "Create", Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
			"metadata": map[string]any{"name": "x", "namespace": "a"}, "roleRef": map[string]any{"kind": role, "name": "edit"}}}
	}
	for _, tc := range []struct {
		op        output.Operation
		refuses   string
		describes string
		want      string
	}{
		{binding("ClusterRole"), refused + pods, "Create rbac.authorization.k8s.io/v1 RoleBinding a/x", lacks + "get, list pods, pods/log" + marker + "clusterroles,resourceNames=edit,verbs=bind"},
		{binding("Role"), refused + pods + "\n" + metrics, "Create rbac.authorization.k8s.io/v1 RoleBinding a/x", lacks + "get, list pods, pods/log; get /metrics" + marker + "roles,resourceNames=edit,verbs=bind"},
		{output.Operation{Operation: "MergePatch", Kind: "clusterrole", Name: "c"}, refused + pods + "\n" + pods + "\n" + metrics + "\n" + metrics, "MergePatch clusterrole c",
			lacks + "get, list pods, pods/log; get, list pods, pods/log; 2 more" + marker + "clusterroles,resourceNames=c,verbs=escalate"},
		{output.Operation{Operation: "MergePatch", Kind: "ClusterRoleBinding", Name: "c"}, refused + metrics, "MergePatch ClusterRoleBinding c", lacks + "get /metrics" + marker + "clusterroles,resourceNames=...,verbs=bind"},
		{binding("Role"), head + "unable to create new content in namespace a because it is being terminated", "Create rbac.authorization.k8s.io/v1 RoleBinding a/x",
			head + "unable to create new content in namespace a because it is being terminated; skip namespaces that have a deletionTimestamp"},
		{binding("Role"), "another\nerror", "Create rbac.authorization.k8s.io/v1 RoleBinding a/x", "another\nerror"},
	} {
		err := &operationError{Operation: tc.op, Err: errors.New(tc.refuses)}
		if want := tc.describes + ": " + tc.want; err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}
