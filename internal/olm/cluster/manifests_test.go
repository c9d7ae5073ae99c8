package cluster

import (
	"strings"
	"testing"
)

const (
	userCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: frigates.ship.example.org}
spec: {group: ship.example.org}
`
	olmCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterserviceversions.operators.coreos.com}
spec: {group: operators.coreos.com}
`
	userNamespace = `apiVersion: v1
kind: Namespace
metadata: {name: prod}
`
	leftNamespace = `apiVersion: v1
kind: Namespace
metadata: {name: olm, labels: {app.kubernetes.io/managed-by: operon}}
`
)

// TestUninstallOLM expects that only manifests of OLM are removed, and nothing of a cluster without
// OLM but what operon left.
func TestUninstallOLM(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cluster, manifests string
		changes            string
		err                string
	}{
		"CRDs of an operator":   {userCRD, userCRD, "", "the manifests have no CRD of operators.coreos.com"},
		"a namespace":           {userNamespace, userNamespace, "", "the manifests have no CRD of operators.coreos.com"},
		"no OLM in the cluster": {userNamespace, olmCRD + "---\n" + userNamespace, "", ""},
		"a resumed removal":     {userNamespace + "---\n" + leftNamespace, olmCRD + "---\n" + userNamespace + "---\n" + leftNamespace, "delete namespaces", ""},
		"OLM":                   {olmCRD + "---\n" + userNamespace, olmCRD + "---\n" + userNamespace, "delete customresourcedefinitions, delete namespaces", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFake(t, tt.cluster)
			changed, err := c.UninstallOLM(t.Context(), parse(t, tt.manifests))
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if got := strings.Join(c.changes(), ", "); got != tt.changes || changed != (tt.changes != "") {
				t.Errorf("changes %q (%v), want %q", got, changed, tt.changes)
			}
		})
	}
}

// TestUninstallOLMDiscovery expects that only an unknown kind means that its objects are gone.
func TestUninstallOLMDiscovery(t *testing.T) {
	t.Parallel()
	c := newFake(t, olmCRD)
	c.Resource = noDiscovery
	if _, err := c.UninstallOLM(t.Context(), parse(t, olmCRD)); err == nil || err.Error() != "the server is busy" {
		t.Errorf("error %v", err)
	}
}
