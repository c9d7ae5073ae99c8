package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestProblems covers the states of pods in which an operator does not start.
func TestProblems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, want string
		ran, final   bool
	}{
		"runs":          {status: `{containerStatuses: [{name: manager, state: {running: {}}}]}`},
		"creating":      {status: `{containerStatuses: [{name: manager, state: {waiting: {reason: ContainerCreating}}}]}`},
		"no image":      {status: `{containerStatuses: [{name: manager, state: {waiting: {reason: ImagePullBackOff, message: denied}}}]}`, want: "container manager waits: ImagePullBackOff: denied"},
		"invalid image": {status: `{containerStatuses: [{name: manager, state: {waiting: {reason: InvalidImageName}}}]}`, want: "container manager waits: InvalidImageName", final: true},
		"crash": {
			status: `{containerStatuses: [{name: manager, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 2, reason: Error}}}]}`,
			want:   "container manager ended with code 2 (CrashLoopBackOff)", ran: true,
		},
		"restarted by itself": {status: `{containerStatuses: [{name: manager, state: {running: {}}, lastState: {terminated: {exitCode: 0}}}]}`},
		"init container":      {status: `{initContainerStatuses: [{name: setup, state: {terminated: {exitCode: 1, reason: Error}}}]}`, want: "container setup ended with code 1 (Error)", ran: true},
		"evicted":             {status: `{phase: Failed, reason: Evicted, message: the node has no memory}`, want: "Evicted: the node has no memory", final: true},
		"no node":             {status: `{conditions: [{type: PodScheduled, status: "False", message: 0/1 nodes are available}]}`, want: "it is not scheduled: 0/1 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pod corev1.Pod
			if err := yaml.UnmarshalStrict([]byte(tt.status), &pod.Status); err != nil {
				t.Fatal(err)
			}
			var got Problem
			if all := Problems(&pod); len(all) > 0 {
				got = all[0]
			}
			if got.Text != tt.want || got.Ran != tt.ran || got.Final != tt.final {
				t.Errorf("%+v, want %+v", got, tt)
			}
		})
	}
}
