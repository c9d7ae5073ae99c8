package cluster

import (
	"testing"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

// TestPodSpec covers the flags that are about the pod with the catalog.
func TestPodSpec(t *testing.T) {
	t.Parallel()
	spec := Pod{Image: "example.org/opm", PullPolicy: "Always", PullSecret: "registry", ServiceAccount: "installer", Restricted: true}.spec("operon-fleet")
	container := jsonvalue.Maps(spec, "containers")[0]
	for got, want := range map[string]string{
		jsonvalue.String(container, "image"): "example.org/opm", jsonvalue.String(container, "imagePullPolicy"): "Always",
		jsonvalue.String(spec, "serviceAccountName"): "installer", jsonvalue.String(jsonvalue.Maps(spec, "imagePullSecrets")[0], "name"): "registry",
		jsonvalue.String(spec, "securityContext", "seccompProfile", "type"):       "RuntimeDefault",
		jsonvalue.String(jsonvalue.Maps(container, "volumeMounts")[0], "subPath"): catalogFile,
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
