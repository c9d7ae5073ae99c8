//go:build testall

package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

const (
	clusterV1 = `apiVersion: v1
kind: Namespace
metadata: {name: ships}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterextensions.olm.operatorframework.io}
spec: {versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {CONFIG: {}}}}}}}]}
`
	userExtension = `---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: mine, labels: {LABEL: operon}}
spec: {namespace: NAMESPACE, source: {catalog: {packageName: fleet}}}
status: {install: {bundle: {name: fleet.v0.1.0, version: 0.1.0}}}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: theirs}
`
)

// extend returns options to install version 0.2.0 of a bundle with an install mode.
func extend(t *testing.T, mode string) Options {
	t.Helper()
	b, err := bundle.Parse(map[string][]byte{
		bundle.AnnotationsFile: []byte("annotations: {" + bundle.PackageKey + ": fleet}"),
		"manifests/csv.yaml":   []byte("{kind: ClusterServiceVersion, metadata: {name: fleet.v0.2.0}, spec: {version: 0.2.0, installModes: [{type: " + mode + ", supported: true}]}}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return Options{Bundle: b, Namespace: testNamespace, Catalog: CatalogImage{
		Bundle: "example.org/fleet@sha256:1", Ref: "example.org/catalog:v1",
		Push: func(context.Context, []byte) (string, error) { return "example.org/catalog@sha256:2", nil },
	}}
}

// olmV1 makes a cluster do what OLM v1 does when an object is created. The progress of a
// ClusterExtension can be a failure.
func (c *fakeCluster) olmV1(reason, message string) {
	c.fake.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create, _ := a.(clienttesting.CreateAction)
		o, _ := create.GetObject().(*unstructured.Unstructured)
		progress := map[string]any{"type": "Progressing", "status": map[bool]string{true: "False", false: "True"}[reason == "Blocked"], "reason": "Succeeded", "observedGeneration": int64(0)}
		switch o.GetKind() {
		case "ClusterCatalog":
			o.Object["status"] = map[string]any{
				"resolvedSource": map[string]any{"image": map[string]any{"ref": "example.org/catalog@sha256:2"}},
				"conditions":     []any{progress, map[string]any{"type": "Serving", "status": "True"}},
			}
		case "ClusterExtension":
			conditions := []any{progress}
			if progress["reason"], progress["message"] = reason, message; reason == "Succeeded" {
				conditions = append(conditions, map[string]any{"type": "Installed", "status": "True", "observedGeneration": int64(0)})
			}
			o.Object["status"] = map[string]any{"install": map[string]any{"bundle": map[string]any{"name": "fleet.v0.2.0", "version": "0.2.0"}}, "conditions": conditions}
		}
		return false, nil, nil
	})
}

// objectsOf returns the kinds and names of the objects that operon created.
func (c *fakeCluster) objectsOf(t *testing.T) (names []string) {
	t.Helper()
	for _, r := range append(slices.Clone(installerKinds), clusterExtensions) {
		all, err := c.list(t.Context(), r, "", metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if createdByOperon(o) {
				names = append(names, r.kind+" "+o.GetName())
			}
		}
	}
	return names
}

// TestInstallExtension expects the objects for a bundle, also after a command was killed, and that
// cleanup removes them. With an account of the user, operon grants no permissions.
func TestInstallExtension(t *testing.T) {
	t.Parallel()
	killed := ownExtension("{conditions: [{type: Installed, status: 'False', observedGeneration: 0}]}", "x")
	installer := "ClusterCatalog operon-fleet, ClusterRoleBinding fleet-installer, ClusterRole fleet-installer, ServiceAccount fleet-installer, ClusterExtension fleet"
	for name, tt := range map[string]struct{ cluster, account, want string }{
		"new":            {clusterV1, "", installer},
		"killed command": {clusterV1 + killed, "", installer},
		"account":        {clusterV1, "theirs", "ClusterCatalog operon-fleet, ClusterExtension fleet"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, o := newFake(t, tt.cluster), extend(t, AllNamespaces)
			c.olmV1("Succeeded", "")
			image, _ := o.Catalog.(CatalogImage)
			image.Account = tt.account
			o.Catalog = image
			changed, err := c.Install(t.Context(), o)
			if got := strings.Join(c.objectsOf(t), ", "); err != nil || !changed || got != tt.want {
				t.Fatalf("%s: changed %v, error %v, objects %s", name, changed, err, got)
			}
			if changed, err = c.Install(t.Context(), o); err != nil || changed {
				t.Errorf("%s: a repeat: changed %v, error %v", name, changed, err)
			}
			if ref, used, err := c.CatalogImage(t.Context(), "fleet"); err != nil || ref != "example.org/catalog:v1" || used != "example.org/catalog@sha256:2" {
				t.Errorf("%s: the image for an upgrade is %q, OLM reads %q, error %v", name, ref, used, err)
			}
			changed, err = c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: testNamespace})
			if got := c.objectsOf(t); err != nil || !changed || len(got) > 0 {
				t.Errorf("%s: cleanup: changed %v, error %v, left %v", name, changed, err, got)
			}
		})
	}
}

// TestExtensionErrors expects that what OLM v1 cannot do is refused before anything changes, and that
// a failure of OLM is reported and undone.
func TestExtensionErrors(t *testing.T) {
	t.Parallel()
	user := strings.ReplaceAll(userExtension, "LABEL", "x")
	for name, tt := range map[string]struct {
		cluster, supported string
		mode               Mode
		reason, message    string // of OLM
		err, hint          string
	}{
		"several namespaces": {cluster: clusterV1, mode: Mode{MultiNamespace, []string{"a", "b"}}, err: "OLM v1 does not support --install-mode MultiNamespace=a,b"},
		"other mode":         {cluster: clusterV1, mode: Mode{OwnNamespace, []string{testNamespace}}, err: "fleet.v0.2.0 supports AllNamespaces, not OwnNamespace"},
		"stable CRDs":        {cluster: clusterV1, supported: OwnNamespace, err: "installs only operators for all namespaces", hint: "experimental CRDs"},
		"user's":             {cluster: clusterV1 + strings.ReplaceAll(user, "NAMESPACE", testNamespace), err: "ClusterExtension mine installs package fleet", hint: "operon catalog add"},
		"elsewhere":          {cluster: clusterV1 + strings.ReplaceAll(user, "NAMESPACE", "other") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n", err: "into namespace other", hint: "use -n other"},
		"permission":         {cluster: clusterV1, reason: reasonRetrying, message: "pods is forbidden\nsecrets is forbidden", err: "OLM cannot install fleet.v0.2.0: pods is forbidden; secrets is forbidden", hint: "grant the permission"},
		"catalog":            {cluster: clusterV1, reason: reasonRetrying, message: `error walking catalogs: error loading package "fleet": x`, err: "OLM cannot install fleet.v0.2.0: error walking", hint: "--suite olmv1"},
		"CRD":                {cluster: clusterV1, reason: "Blocked", message: `validating upgrade for CRD "x" failed`, err: "OLM cannot install fleet.v0.2.0: validating", hint: "--previous"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, o := newFake(t, tt.cluster), extend(t, AllNamespaces)
			if tt.supported != "" {
				o = extend(t, tt.supported)
			}
			o.Mode = tt.mode
			c.olmV1(tt.reason, tt.message)
			_, err := c.Install(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(fault.HintOf(err), tt.hint) {
				t.Errorf("%s: error %v, hint %q", name, err, fault.HintOf(err))
			}
			if left := c.objectsOf(t); len(left) > 0 || tt.reason == "" && len(c.changes()) > 0 {
				t.Errorf("%s: left %v, changes %v", name, left, c.changes())
			}
		})
	}
}

// TestUnreadCatalog expects that operon waits while OLM cannot read a catalog that it serves, and gives
// the reason after the timeout.
func TestUnreadCatalog(t *testing.T) {
	t.Parallel()
	const reason = `error walking catalogs: error getting package "fleet" from catalog "operon-fleet": cache for catalog "operon-fleet" not found`
	for delay, want := range map[time.Duration]string{30 * time.Second: "", 2 * time.Minute: reason} {
		synctest.Test(t, func(t *testing.T) {
			c := newFake(t, clusterV1)
			c.olmV1(reasonRetrying, reason)
			start := time.Now()
			c.Wait = func(waiting string) {
				if waiting == reason && time.Since(start) > delay {
					c.setInstalled(t)
				}
			}
			ctx, cancel := WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := c.Install(ctx, extend(t, AllNamespaces))
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("read after %v: error %v", delay, err)
			}
		})
	}
}

// setInstalled makes OLM report that the ClusterExtension is installed.
func (c *fakeCluster) setInstalled(t *testing.T) {
	t.Helper()
	o, err := c.get(t.Context(), clusterExtensions, "", "fleet")
	if err != nil {
		t.Fatal(err)
	}
	_ = unstructured.SetNestedSlice(o.Object, []any{
		map[string]any{"type": "Progressing", "status": "True", "reason": reasonSucceeded, "observedGeneration": int64(0)},
		map[string]any{"type": "Installed", "status": "True", "observedGeneration": int64(0)},
	}, "status", "conditions")
	if _, err := c.fake.Resource(clusterExtensions.GroupVersionResource).Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestOneNamespaceExtension expects that OLM with its experimental CRDs is told the namespace.
func TestOneNamespaceExtension(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, strings.ReplaceAll(clusterV1, "CONFIG", "config"))
		c.olmV1("Succeeded", "")
		if _, err := c.Install(t.Context(), extend(t, OwnNamespace)); err != nil {
			t.Fatal(err)
		}
		o, err := c.get(t.Context(), clusterExtensions, "", "fleet")
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(o.Object, "spec", "config", "inline", "watchNamespace"); got != testNamespace {
			t.Errorf("the operator watches %q", got)
		}
	})
}

// TestUsersExtension expects that a ClusterExtension of a user is not upgraded, and that cleanup leaves
// its catalog.
func TestUsersExtension(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, clusterV1+strings.NewReplacer("LABEL", "x", "NAMESPACE", testNamespace).Replace(userExtension))
		if _, err := c.Upgrade(t.Context(), extend(t, AllNamespaces)); err == nil || !strings.Contains(err.Error(), "ClusterExtension mine uses another catalog") {
			t.Errorf("error %v", err)
		}
		changed, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: testNamespace})
		if got := strings.Join(c.changes(), ", "); err != nil || !changed || got != "delete clusterextensions" {
			t.Errorf("changed %v, error %v, changes %s", changed, err, got)
		}
	})
}

// TestExtensionTimeout expects that a catalog that OLM does not read is named, and removed.
func TestExtensionTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFake(t, clusterV1)
		ctx, cancel := WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.Install(ctx, extend(t, AllNamespaces))
		if err == nil || !strings.Contains(err.Error(), "not done after 1m0s: OLM reads the catalog example.org/catalog@sha256:2") || len(c.objectsOf(t)) > 0 {
			t.Errorf("error %v, left %v", err, c.objectsOf(t))
		}
		o := extend(t, AllNamespaces)
		image, _ := o.Catalog.(CatalogImage)
		image.Push = func(context.Context, []byte) (string, error) { return "", errors.New("the registry refuses it") }
		o.Catalog = image
		if _, err := c.Install(t.Context(), o); err == nil || len(c.objectsOf(t)) > 0 {
			t.Errorf("error %v, left %v", err, c.objectsOf(t))
		}
	})
}
