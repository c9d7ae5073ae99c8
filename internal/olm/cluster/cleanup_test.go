package cluster

import (
	"strings"
	"testing"
)

const group = `apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: operon, namespace: ships, labels: {app.kubernetes.io/managed-by: operon}}
---
apiVersion: v1
kind: Namespace
metadata: {name: ships}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterserviceversions.operators.coreos.com}
spec: {group: operators.coreos.com}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: subscriptions.operators.coreos.com}
spec: {group: operators.coreos.com}
`

// TestCleanupShared expects that the OperatorGroup stays unless the namespace had the package.
func TestCleanupShared(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ objects, changes string }{
		"mistyped":    {"", ""},
		"interrupted": {"---\napiVersion: operators.coreos.com/v1\nkind: Operator\nmetadata: {name: fleet.ships}\n", "delete operatorgroups"},
		"installed":   {"---\napiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: fleet, namespace: ships}\nspec: {name: fleet}\n", "delete subscriptions, delete operatorgroups"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFake(t, group+tt.objects)
			changed, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: testNamespace, Group: true, Groups: true})
			if got := strings.Join(c.changes(), ", "); err != nil || got != tt.changes || changed != (tt.changes != "") {
				t.Errorf("changes %q (%v), error %v; want %q", got, changed, err, tt.changes)
			}
		})
	}
}
