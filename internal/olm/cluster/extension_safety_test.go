//go:build testall

package cluster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/operon-dev/operon/internal/fault"
)

// ownExtension is a ClusterExtension of operon with a status, made from a bundle with a digest.
func ownExtension(status, sum string) string {
	return `---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: fleet, uid: ours, labels: {app.kubernetes.io/managed-by: operon, operon.dev/bundle-digest: "` + sum + `"}}
spec: {namespace: ships, serviceAccount: {name: fleet-installer}, source: {catalog: {packageName: fleet, version: 0.1.0}}}
status: ` + status + "\n"
}

// ownedCRD is a CRD of ClusterExtension fleet, with an object.
const ownedCRD = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: secrets.example.org, labels: {olm.operatorframework.io/owner-kind: ClusterExtension, olm.operatorframework.io/owner-name: fleet}}
spec: {names: {plural: secrets, kind: Secret}, versions: [{name: v1, served: true}]}
---
apiVersion: v1
kind: Secret
metadata: {name: precious, namespace: ships}
`

// deletes returns the requests that delete something.
func (c *fakeCluster) deletes() string {
	var all []string
	for _, change := range c.changes() {
		if strings.HasPrefix(change, "delete") {
			all = append(all, change)
		}
	}
	return strings.Join(all, ", ")
}

// TestUnknownInstalled expects that run bundle and run bundle-upgrade change nothing while OLM does not say
// what is installed, and that an installation that goes on is awaited.
func TestUnknownInstalled(t *testing.T) {
	t.Parallel()
	const unknown = `{conditions: [{type: Installed, status: Unknown, observedGeneration: 0}, {type: Progressing, status: "True", reason: Retrying, message: no account, observedGeneration: 0}]}`
	for name, status := range map[string]string{
		"unknown":      unknown,
		"no status":    "{}",
		"has a CRD":    `{conditions: [{type: Installed, status: "False", observedGeneration: 0}]}`,
		"old status":   `{conditions: [{type: Installed, status: "False", observedGeneration: -1}]}`,
		"same, failed": unknown,
	} {
		synctest.Test(t, func(t *testing.T) {
			o := extend(t, AllNamespaces)
			sum := "x"
			if strings.HasPrefix(name, "same") {
				sum, _ = digest(o.Bundle)
			}
			c := newFake(t, clusterV1+ownExtension(status, sum)+ownedCRD)
			want := "OLM does not report what ClusterExtension fleet has installed: "
			if sum != "x" {
				want = "OLM cannot install fleet.v0.2.0: no account"
			}
			ctx, cancel := WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := c.Install(ctx, o)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fault.HintOf(err), "cleanup") || len(c.changes()) > 0 {
				t.Errorf("%s: install: error %v, hint %q, changes %v", name, err, fault.HintOf(err), c.changes())
			}
			_, err = c.Upgrade(ctx, o)
			if err == nil || !strings.Contains(err.Error(), "OLM does not report") || strings.Contains(fault.HintOf(err), "cleanup") || len(c.changes()) > 0 {
				t.Errorf("%s: upgrade: error %v, hint %q, changes %v", name, err, fault.HintOf(err), c.changes())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // another command installs the same bundle
		o := extend(t, AllNamespaces)
		sum, err := digest(o.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		c := newFake(t, clusterV1+ownExtension("{}", sum))
		go func() {
			time.Sleep(5 * time.Second)
			done := parse(t, ownExtension(`{install: {bundle: {name: fleet.v0.2.0}}, conditions: [{type: Installed, status: "True", observedGeneration: 0}]}`, sum))[0]
			_ = c.fake.Tracker().Update(clusterExtensions.GroupVersionResource, &done, "")
		}()
		if changed, err := c.Install(t.Context(), o); err != nil || !changed || len(c.changes()) > 0 {
			t.Errorf("changed %v, error %v, changes %v", changed, err, c.changes())
		}
	})
}

// TestLostAnswer expects that a failed creation does not remove the ClusterExtension that a user has created
// in the meantime.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, label := range map[string]string{"user's": "x", "own": managedBy} {
		synctest.Test(t, func(t *testing.T) {
			c := newFake(t, clusterV1)
			c.olmV1("Succeeded", "")
			c.fake.PrependReactor("create", clusterExtensions.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				o := parse(t, strings.NewReplacer("LABEL", label, "NAMESPACE", testNamespace, "name: mine", "name: fleet").Replace(userExtension))[0]
				if err := c.fake.Tracker().Add(&o); err != nil {
					t.Error(err)
				}
				return true, nil, apierrors.NewInternalError(context.DeadlineExceeded)
			})
			_, err := c.Install(t.Context(), extend(t, AllNamespaces))
			left, getErr := c.get(t.Context(), clusterExtensions, "", "fleet")
			if err == nil || getErr != nil || (left != nil) != (label == "x") {
				t.Errorf("%s: error %v, left %v (%v)", name, err, left, getErr)
			}
		})
	}
}

// TestSharedCRD expects that cleanup does not remove a CRD that an operator with the other version of OLM
// owns too.
func TestSharedCRD(t *testing.T) {
	t.Parallel()
	const installed = `{install: {bundle: {name: fleet.v0.1.0}}}`
	csv := func(name string) string {
		return "---\napiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: " + name + ", uid: " + name + ", namespace: ships, annotations: {operatorframework.io/properties: " +
			`'{"properties":[{"type":"olm.package","value":{"packageName":"` + strings.TrimSuffix(name, ".v1") + `"}}]}'` + "}}\nspec: {customresourcedefinitions: {owned: [{name: secrets.example.org}]}}\n"
	}
	v0 := "---\n" + strings.Split(group, "---\n")[3]
	for name, tt := range map[string]struct{ cluster, pkg, err, deletes string }{
		"OLM v1":             {ownExtension(installed, "x") + csv("boats.v1"), "fleet", "boats.v1 in namespace ships owns it too", ""},
		"OLM v0":             {ownExtension(installed, "x") + csv("boats.v1"), "boats", "", "delete clusterserviceversions"},
		"the only owner":     {ownExtension(installed, "x"), "fleet", "", "delete secrets, delete clusterextensions"},
		"both, same package": {ownExtension(installed, "x") + csv("fleet.v1"), "fleet", "", "delete clusterserviceversions, delete secrets, delete clusterextensions"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newFake(t, clusterV1+v0+ownedCRD+tt.cluster)
			c.fake.PrependReactor("delete", clusterExtensions.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { // the garbage collector
				return false, nil, c.fake.Tracker().Delete(crds.GroupVersionResource, "", "secrets.example.org")
			})
			_, err := c.Cleanup(t.Context(), Removal{Package: tt.pkg, Namespace: testNamespace, CRDs: true})
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || c.deletes() != tt.deletes {
				t.Errorf("%s: error %v, %s", name, err, c.deletes())
			}
		})
	}
}

// TestDeletedNamespace expects that cleanup removes a ClusterExtension whose namespace is gone, and that run
// bundle says so.
func TestDeletedNamespace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := strings.ReplaceAll(ownExtension(`{install: {bundle: {name: fleet.v0.1.0}}}`, "x"), "namespace: ships", "namespace: gone")
		c := newFake(t, clusterV1+gone)
		_, err := c.Install(t.Context(), extend(t, AllNamespaces))
		if hint := fault.HintOf(err); !strings.Contains(hint, "operon cleanup fleet -n gone") {
			t.Errorf("error %v, hint %q", err, hint)
		}
		if changed, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: "gone", CRDs: true}); err != nil || !changed || len(c.objectsOf(t)) > 0 {
			t.Errorf("changed %v, error %v, left %v", changed, err, c.objectsOf(t))
		}
		if _, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: "gone"}); err == nil || !strings.Contains(err.Error(), "namespace gone does not exist") {
			t.Errorf("error %v", err)
		}
	})
}
