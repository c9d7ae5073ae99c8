//go:build testall

package cluster

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
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

const finalized = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: fleet.v0.1.0, namespace: ships, resourceVersion: "7", finalizers: [operators.coreos.com/csv-cleanup]}
`

// TestRemoveFinalized has a controller that removes its finalizer when the object changes again, as OLM does after
// failures.
func TestRemoveFinalized(t *testing.T) {
	t.Parallel()
	for name, works := range map[string]bool{"slow": true, "stopped": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFake(t, finalized)
			c.fake.PrependReactor("delete", csvs.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
			c.fake.PrependReactor("patch", csvs.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				if works {
					return false, nil, c.fake.Tracker().Delete(csvs.GroupVersionResource, testNamespace, "fleet.v0.1.0")
				}
				return false, nil, nil
			})
			ctx, cancel := WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := c.remove(ctx, csvs, testNamespace, "fleet.v0.1.0")
			const want = "not done after 3s: ClusterServiceVersion fleet.v0.1.0 is being deleted, and has the finalizer operators.coreos.com/csv-cleanup"
			if works && err != nil || !works && (err == nil || err.Error() != want) {
				t.Errorf("error %v", err)
			}
		})
	}
}
