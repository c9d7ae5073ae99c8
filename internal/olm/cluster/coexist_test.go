//go:build testall

package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// What the two versions of OLM have installed.
const (
	fleetOfV0 = `---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: fleet.v0.1.0
  namespace: navy
  annotations: {operatorframework.io/properties: '{"properties": [{"type": "olm.package", "value": {"packageName": "fleet"}}]}'}
spec: {version: 0.1.0, customresourcedefinitions: {owned: [{name: frigates.ship.example.org}]}}
status: {phase: Succeeded}
`
	subscribedV0 = `---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: mine, namespace: navy}
spec: {name: fleet}
`
	frigatesOfV1 = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: frigates.ship.example.org
  labels: {olm.operatorframework.io/owner-kind: ClusterExtension, olm.operatorframework.io/owner-name: ships}
`
)

// withFrigates returns options for OLM v0 or v1 to install a bundle that owns a CRD.
func withFrigates(t *testing.T, v1 bool) Options {
	t.Helper()
	o := extend(t, AllNamespaces)
	jsonvalue.Map(o.Bundle.CSV.Object, "spec")["customresourcedefinitions"] = map[string]any{"owned": []any{map[string]any{"name": "frigates.ship.example.org"}}}
	image, _ := o.Catalog.(CatalogImage)
	image.Push = func(context.Context, []byte) (string, error) {
		t.Error("pushed an image")
		return "", nil
	}
	o.Catalog = image
	if !v1 {
		o.Catalog = Local{Address: "192.0.2.7"}
	}
	return o
}

// TestOtherOLM expects that neither version of OLM takes over what the other one has installed, and that
// nothing is written or pushed before.
func TestOtherOLM(t *testing.T) {
	t.Parallel()
	ours := strings.NewReplacer("LABEL", managedBy, "NAMESPACE", "navy").Replace(userExtension)
	for name, tt := range map[string]struct {
		cluster   string
		v1        bool
		do        func(*Client, context.Context, Options) (bool, error)
		err, hint string
	}{
		"v1 over v0":             {fleetOfV0, true, (*Client).Install, "OLM v0 has installed fleet.v0.1.0 in namespace navy", "operon run bundle-upgrade BUNDLE -n navy; or remove it first: operon cleanup fleet -n navy"},
		"v1 upgrades v0":         {fleetOfV0, true, (*Client).Upgrade, "OLM v0 has installed fleet.v0.1.0 in namespace navy", "with OLM v0"},
		"v1 over another's CRD":  {strings.NewReplacer("fleet", "harbor").Replace(fleetOfV0), true, (*Client).Install, "OLM v0 has installed harbor.v0.1.0 in namespace navy, which owns CustomResourceDefinition frigates.ship.example.org too", "operon cleanup harbor -n navy"},
		"v1 over a Subscription": {subscribedV0, true, (*Client).Install, "Subscription mine of OLM v0 in namespace navy installs package fleet", "operon cleanup fleet -n navy"},
		"v0 over v1":             {ours, false, (*Client).Install, "ClusterExtension mine of OLM v1 installs package fleet in namespace navy", "operon cleanup fleet -n navy"},
		"v0 over a CRD of v1":    {frigatesOfV1, false, (*Client).Install, "CustomResourceDefinition frigates.ship.example.org belongs to ClusterExtension ships of OLM v1", "operon olm status"},
		"v0 upgrades to a CRD of v1": {
			strings.Replace(fleetOfV0, "namespace: navy", "namespace: ships", 1) + frigatesOfV1, false, (*Client).Upgrade,
			"CustomResourceDefinition frigates.ship.example.org belongs to ClusterExtension ships of OLM v1", "operon olm status",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newFake(t, clusterV1+tt.cluster)
			_, err := tt.do(c.Client, t.Context(), withFrigates(t, tt.v1))
			if err == nil || err.Error() != tt.err || !strings.Contains(fault.HintOf(err), tt.hint) || len(c.changes()) > 0 {
				t.Errorf("%s: error %v, hint %q, changes %v", name, err, fault.HintOf(err), c.changes())
			}
		})
	}
}

// TestUpgradeWithoutCatalog expects that nothing is pushed for an operator whose ClusterCatalog is gone.
func TestUpgradeWithoutCatalog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, clusterV1+strings.NewReplacer("LABEL", managedBy, "NAMESPACE", testNamespace, "name: mine", "name: fleet").Replace(userExtension))
		_, err := c.Upgrade(t.Context(), withFrigates(t, true))
		if err == nil || err.Error() != "ClusterCatalog operon-fleet does not exist" || !strings.Contains(fault.HintOf(err), "operon cleanup") || len(c.changes()) > 0 {
			t.Errorf("error %v, hint %q, changes %v", err, fault.HintOf(err), c.changes())
		}
	})
}

// forbid refuses requests for resources.
func (c *fakeCluster) forbid(verb string, resources ...string) {
	c.fake.PrependReactor(verb, "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.GetResource()
		return slices.Contains(resources, r.Resource), nil, apierrors.NewForbidden(r.GroupResource(), "", nil)
	})
}

// TestUnseenExtensions expects that users of OLM v0 need no permissions for OLM v1 and for CRDs, and learn
// what is not known.
func TestUnseenExtensions(t *testing.T) {
	t.Parallel()
	const v0 = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: subscriptions.operators.coreos.com}
spec: {group: operators.coreos.com}
`
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, clusterV1+v0+strings.ReplaceAll(fleetOfV0, "namespace: navy", "namespace: ships"))
		c.forbid("list", "clusterextensions", "clustercatalogs")
		c.forbid("get", "customresourcedefinitions")
		if hasV0, hasV1, err := c.Versions(t.Context()); !hasV0 || !hasV1 || err != nil {
			t.Errorf("versions: %v %v, error %v", hasV0, hasV1, err)
		}
		if has, err := c.HasExtension(t.Context(), "fleet"); has || err != nil || !slices.Contains(c.notes, unseen) {
			t.Errorf("has a ClusterExtension: %v, error %v, notes %q", has, err, c.notes)
		}
		if err := c.refuseOperatorOfV1(t.Context(), withFrigates(t, false).Bundle); err != nil {
			t.Error(err)
		}
		if where, err := c.OtherNamespaces(t.Context(), "fleet"); err != nil || !slices.Equal(where, []string{"ships"}) {
			t.Errorf("namespaces %v, error %v", where, err)
		}
		s, err := c.Status(t.Context())
		if err != nil || !slices.ContainsFunc(s.Items, func(i Item) bool { return i.Name == "fleet.v0.1.0" }) || !slices.Contains(c.notes, "no permission to list objects of kind ClusterExtension") {
			t.Errorf("status %v, error %v, notes %q", s, err, c.notes)
		}
		c.notes = nil
		changed, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: testNamespace})
		if err != nil || !changed || !slices.Contains(c.notes, unseen) || c.has(t, csvs, "fleet.v0.1.0") {
			t.Errorf("cleanup: changed %v, error %v, notes %q", changed, err, c.notes)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, clusterV1)
		c.forbid("list", "clusterextensions")
		if _, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: testNamespace}); !apierrors.IsForbidden(err) || fault.HintOf(err) == "" {
			t.Errorf("only OLM v1: error %v, hint %q", err, fault.HintOf(err))
		}
	})
}
