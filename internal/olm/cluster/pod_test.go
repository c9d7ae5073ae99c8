package cluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestPodSpec covers the flags that are about the pod with the catalog.
func TestPodSpec(t *testing.T) {
	t.Parallel()
	spec := Pod{Image: "example.org/opm", PullPolicy: "Always", PullSecret: "registry", ServiceAccount: "installer", Restricted: true}.spec("operon-fleet")
	container := objects(spec, "containers")[0]
	for got, want := range map[string]string{
		text(container, "image"): "example.org/opm", text(container, "imagePullPolicy"): "Always",
		text(spec, "serviceAccountName"): "installer", text(objects(spec, "imagePullSecrets")[0], "name"): "registry",
		text(spec, "securityContext", "seccompProfile", "type"): "RuntimeDefault",
		text(objects(container, "volumeMounts")[0], "subPath"):  catalogFile,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	plain := Pod{Image: "example.org/opm"}.spec("operon-fleet")
	for _, key := range []string{"securityContext", "serviceAccountName", "imagePullSecrets"} {
		if plain[key] != nil {
			t.Errorf("%s: %v", key, plain[key])
		}
	}
}

// TestContainerProblems covers the states of pods in which an operator does not start.
func TestContainerProblems(t *testing.T) {
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
		"no node":             {status: `{conditions: [{type: PodScheduled, status: "False", message: 0/1 nodes are available}]}`, want: "it is not scheduled: 0/1 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status map[string]any
			if err := yaml.Unmarshal([]byte(tt.status), &status); err != nil {
				t.Fatal(err)
			}
			var got problem
			if all := containerProblems(unstructured.Unstructured{Object: map[string]any{"status": status}}); len(all) > 0 {
				got = all[0]
			}
			if got.text != tt.want || got.ran != tt.ran || got.final != tt.final {
				t.Errorf("%+v, want %+v", got, tt)
			}
		})
	}
}
