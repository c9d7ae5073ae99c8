package cluster

import "testing"

// fleetPods are the pods of the Deployment fleet and those of another one with the same labels.
const fleetPods = `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: fleet-1, namespace: ships, uid: "1", labels: {app: manager}, ownerReferences: [{kind: Deployment, name: fleet, controller: true}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: other-1, namespace: ships, uid: "2", labels: {app: manager}, ownerReferences: [{kind: Deployment, name: other, controller: true}]}
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
	for name, tt := range map[string]struct {
		pod   string
		text  string
		final bool
	}{
		"pods of others": {"", "", false},
		"second container": {`---
apiVersion: v1
kind: Pod
metadata: {name: fleet-1-x, namespace: ships, labels: {app: manager}, ownerReferences: [{kind: ReplicaSet, name: fleet-1, uid: "1", controller: true}]}
status:
  containerStatuses:
  - {name: proxy, state: {waiting: {reason: ImagePullBackOff}}}
  - {name: manager, state: {waiting: {reason: InvalidImageName}}}
`, "pod fleet-1-x: container manager waits: InvalidImageName", true},
		"it may run later": {`---
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
			text, final, err := newFake(t, fleetPods+tt.pod).task().podProblem(t.Context())
			if text != tt.text || final != tt.final || err != nil {
				t.Errorf("%q, final: %v, error %v; want %q, %v", text, final, err, tt.text, tt.final)
			}
		})
	}
}
