package cluster

import "testing"

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
