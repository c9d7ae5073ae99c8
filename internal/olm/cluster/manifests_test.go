//go:build testall

package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
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
	olmV1CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterextensions.olm.operatorframework.io}
spec: {group: olm.operatorframework.io}
`
	userNamespace = `apiVersion: v1
kind: Namespace
metadata: {name: prod}
`
	olmManifests = olmCRD + "---\n" + userCRD + `---
apiVersion: v1
kind: Namespace
metadata: {name: olm}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: olm-operator, namespace: olm}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: global, namespace: olm}
`
)

// TestUninstallOLM expects that only manifests of OLM are removed, and nothing of a cluster without
// OLM.
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
		"OLM v1":                {olmV1CRD, olmV1CRD, "", "the manifests have no CRD of operators.coreos.com"},
		"OLM":                   {olmManifests, olmManifests, "delete operatorgroups, delete deployments, delete namespaces, delete customresourcedefinitions, delete customresourcedefinitions", ""},
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

// TestUninstallOLMResumes expects that a repeat completes an interrupted removal, wherever it ended and
// whoever installed OLM.
func TestUninstallOLMResumes(t *testing.T) {
	t.Parallel()
	for deleted := range 5 {
		c := newFake(t, olmManifests)
		ctx, cancel := context.WithCancel(t.Context())
		left := deleted
		c.fake.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			if left--; left >= 0 {
				return false, nil, nil
			}
			cancel()
			return true, nil, context.Canceled
		})
		if _, err := c.UninstallOLM(ctx, parse(t, olmManifests)); !errors.Is(err, context.Canceled) {
			t.Fatalf("%d deleted: error %v", deleted, err)
		}
		c.fake.ReactionChain = c.fake.ReactionChain[1:]
		if changed, err := c.UninstallOLM(t.Context(), parse(t, olmManifests)); !changed || err != nil {
			t.Errorf("%d deleted: changed: %v, error %v", deleted, changed, err)
		}
		for _, r := range []resource{crds, namespaces, deployments, operatorGroups} {
			if all, err := c.list(t.Context(), r, "", metav1.ListOptions{}); err != nil || len(all) > 0 {
				t.Errorf("%d deleted: %d %s are left, error %v", deleted, len(all), r.Resource, err)
			}
		}
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

// TestRequireOLM expects that only OLM v0 is enough, and that users of OLM v1 get the hint for them.
func TestRequireOLM(t *testing.T) {
	t.Parallel()
	const v0 = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: subscriptions.operators.coreos.com}\n"
	for name, tt := range map[string]struct{ cluster, err, hint string }{
		"none": {userCRD, "the cluster has no Operator Lifecycle Manager", "install it: operon olm install SOURCE"},
		"v1":   {olmV1CRD, "the cluster has only OLM v1, for which operon prints manifests", "for v1"},
		"v0":   {userCRD + v0, "", ""},
		"both": {olmV1CRD + v0, "", ""},
	} {
		err := newFake(t, tt.cluster).RequireOLM(t.Context(), "for v1")
		if (err == nil) != (tt.err == "") || err != nil && (err.Error() != tt.err || fault.HintOf(err) != tt.hint) {
			t.Errorf("%s: error %v, hint %q", name, err, fault.HintOf(err))
		}
	}
	c := newFake(t, v0) // whose user may not read CRDs
	c.fake.PrependReactor("get", crds.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(crds.GroupResource(), "", nil)
	})
	if err := c.RequireOLM(t.Context(), ""); err != nil {
		t.Error(err)
	}
}
