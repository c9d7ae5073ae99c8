package cluster

import (
	"fmt"
	"testing"
)

// fleetPods are pods with the same labels: of the Deployment fleet before the upgrade, of another
// Deployment, and of none.
const fleetPods = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: fleet.v0.2.0, namespace: ships, uid: new}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: fleet-0, namespace: ships, uid: "0", labels: {app: manager}, annotations: {deployment.kubernetes.io/revision: "1"}, ownerReferences: [{kind: Deployment, name: fleet, uid: fleet, controller: true}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: fleet-1, namespace: ships, uid: "1", labels: {app: manager}, annotations: {deployment.kubernetes.io/revision: "2"}, ownerReferences: [{kind: Deployment, name: fleet, uid: fleet, controller: true}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: other-1, namespace: ships, uid: "2", labels: {app: manager}, annotations: {deployment.kubernetes.io/revision: "2"}, ownerReferences: [{kind: Deployment, name: other, uid: other, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: fleet-0-x, namespace: ships, labels: {app: manager}, ownerReferences: [{kind: ReplicaSet, name: fleet-0, uid: "0", controller: true}]}
status: {containerStatuses: [{name: manager, state: {waiting: {reason: InvalidImageName}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: another, namespace: ships, labels: {app: manager}, ownerReferences: [{kind: ReplicaSet, name: other-1, uid: "2", controller: true}]}
status: {containerStatuses: [{name: manager, state: {waiting: {reason: InvalidImageName}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: ships, labels: {app: manager}}
status: {containerStatuses: [{name: manager, state: {waiting: {reason: InvalidImageName}}}]}
`

// TestPodProblem expects that only pods of the operator count, and that the problem that ends the
// installation is named.
func TestPodProblem(t *testing.T) {
	t.Parallel()
	deployment := func(owner string, observed int) string {
		return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: fleet, namespace: ships, uid: fleet, generation: 2, annotations: {deployment.kubernetes.io/revision: "2"}, ownerReferences: [{kind: ClusterServiceVersion, uid: %s}]}
status: {observedGeneration: %d}
`, owner, observed)
	}
	const broken = `---
apiVersion: v1
kind: Pod
metadata: {name: fleet-1-x, namespace: ships, labels: {app: manager}, ownerReferences: [{kind: ReplicaSet, name: fleet-1, uid: "1", controller: true}]}
status: {containerStatuses: [{name: manager, state: {waiting: {reason: InvalidImageName}}}]}
`
	for name, tt := range map[string]struct {
		deployment string
		pod        string
		text       string
		final      bool
	}{
		"pods of others":         {deployment("new", 2), "", "", false},
		"no Deployment":          {"", broken, "", false},
		"previous version":       {deployment("old", 2), broken, "", false},
		"update is not observed": {deployment("new", 1), broken, "", false},
		"second container": {deployment("new", 2), `---
apiVersion: v1
kind: Pod
metadata: {name: fleet-1-x, namespace: ships, labels: {app: manager}, ownerReferences: [{kind: ReplicaSet, name: fleet-1, uid: "1", controller: true}]}
status:
  containerStatuses:
  - {name: proxy, state: {waiting: {reason: ImagePullBackOff}}}
  - {name: manager, state: {waiting: {reason: InvalidImageName}}}
`, "pod fleet-1-x: container manager waits: InvalidImageName", true},
		"it may run later": {deployment("new", 2), `---
apiVersion: v1
kind: Pod
metadata: {name: fleet-1-x, namespace: ships, labels: {app: manager}, ownerReferences: [{kind: ReplicaSet, name: fleet-1, uid: "1", controller: true}]}
status:
  containerStatuses:
  - {name: proxy, state: {waiting: {reason: ImagePullBackOff}}}
  - {name: manager, state: {waiting: {reason: ImagePullBackOff}}}
`, "pod fleet-1-x: container proxy waits: ImagePullBackOff", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, final, err := newFake(t, fleetPods+tt.deployment+tt.pod).task().podProblem(t.Context())
			if text != tt.text || final != tt.final || err != nil {
				t.Errorf("%q, final: %v, error %v; want %q, %v", text, final, err, tt.text, tt.final)
			}
		})
	}
}
