package rbac

import "testing"

// TestRequest prints a request, and the marker that declares it.
func TestRequest(t *testing.T) {
	t.Parallel()
	r := Request{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "web", Name: "x"}
	if got, want := r.String(), `patch deployments.apps/status "x" in namespace web`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := r.Marker(), "# "+markerName+":groups=apps,resources=deployments/status,verbs=patch"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
