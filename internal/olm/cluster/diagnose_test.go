//go:build testall

package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// unpackJobs are the Jobs of OLM for the bundle and for another one.
const unpackJobs = `apiVersion: batch/v1
kind: Job
metadata: {name: own, namespace: ships, uid: "7", labels: {operatorframework.io/bundle-unpack-ref: own}}
spec: {template: {spec: {initContainers: [{name: util, image: olm}, {name: pull, image: "example.org/fleet-bundle:v1"}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: other, namespace: ships, uid: "8", labels: {operatorframework.io/bundle-unpack-ref: other}}
spec: {template: {spec: {initContainers: [{name: pull, image: "example.org/harbor-bundle:v1"}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: other-x, namespace: ships, labels: {batch.kubernetes.io/job-name: other}}
status: {initContainerStatuses: [{name: pull, state: {waiting: {reason: InvalidImageName}}}]}
---
`

// TestUnpackProblem expects the reason why OLM does not unpack the image of the bundle.
func TestUnpackProblem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		object, text string
		state        []string
	}{
		"no pod yet": {},
		"forbidden": {
			object: "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: ships}, type: Warning, reason: FailedCreate, message: violates PodSecurity}",
			text:   "Job own: event FailedCreate: violates PodSecurity",
			state:  []string{"Job own: event FailedCreate: violates PodSecurity"},
		},
		"no image": {
			object: "{apiVersion: v1, kind: Pod, metadata: {name: own-x, namespace: ships, labels: {batch.kubernetes.io/job-name: own}}, status: {phase: Pending, initContainerStatuses: [{name: pull, state: {waiting: {reason: ErrImagePull, message: denied}}}]}}",
			text:   "pod own-x: container pull waits: ErrImagePull: denied",
			state:  []string{"pod own-x: phase Pending", "pod own-x: container pull waits: ErrImagePull: denied"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := newFake(t, strings.TrimSuffix(unpackJobs+tt.object, "---\n")).task()
			task.image = "example.org/fleet-bundle:v1"
			if text := task.unpackProblem(t.Context()); text != tt.text {
				t.Errorf("%q, want %q", text, tt.text)
			}
			if diff := cmp.Diff(tt.state, task.unpackState(t.Context())); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}
