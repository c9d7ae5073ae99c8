//go:build testall

package cluster

import "testing"

// TestPodSpec covers the flags that are about the pod with the catalog.
func TestPodSpec(t *testing.T) {
	t.Parallel()
	spec := Pod{Image: "example.org/opm", PullPolicy: "Always", PullSecret: "registry", ServiceAccount: "installer", Restricted: true}.spec("operon-fleet")
	container := spec.Containers[0]
	for got, want := range map[string]string{
		container.Image: "example.org/opm", string(container.ImagePullPolicy): "Always",
		spec.ServiceAccountName: "installer", spec.ImagePullSecrets[0].Name: "registry",
		string(spec.SecurityContext.SeccompProfile.Type): "RuntimeDefault",
		container.VolumeMounts[0].SubPath:                catalogFile,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if *container.SecurityContext.AllowPrivilegeEscalation || !*spec.SecurityContext.RunAsNonRoot {
		t.Errorf("not restricted: %v", container.SecurityContext)
	}
	plain := Pod{Image: "example.org/opm"}.spec("operon-fleet")
	if plain.SecurityContext != nil || plain.Containers[0].SecurityContext != nil || plain.ServiceAccountName != "" || plain.ImagePullSecrets != nil {
		t.Errorf("%v", plain)
	}
}
