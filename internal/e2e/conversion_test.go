//go:build testall

package e2e

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const volumeGroup = "storage.example.org"

// TestConversion runs an operator for a kind with two versions that have different fields.
// First v1, a spoke, is the stored version, and later v2, the hub. Without a manager, only
// the stored version of an object can be read, so the test knows which one it is.
func TestConversion(t *testing.T) {
	t.Parallel()
	i := install(t, cluster, scenario(t, "conversion"))
	m := testTrusted(t, i)
	ns := cluster.namespace(t, "conversion", nil)
	small, fast := i.sample(t, "storage_v1_volume.yaml"), i.sample(t, "storage_v2_volume.yaml")
	small.SetName("small")
	fast.SetName("fast")
	for _, o := range []*unstructured.Unstructured{small, fast} {
		o.SetNamespace(ns)
		if _, err := cluster.create(t, o); err != nil {
			t.Fatal(err)
		}
		eventually(t, "reconcile "+o.GetName(), func() error { return ready(cluster.get(t, o)) })
	}
	v := volumes{small, fast}

	v.wantConverted(t)
	v.wantKept(t)
	v.wantListed(t)
	testSelfCerts(t, i, m, fast)

	crd := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "volumes."+volumeGroup)
	wantStored(t, crd, "v1")
	readable(t, small, "v1")
	readable(t, fast, "v1")

	store(t, crd, "v2")
	wantStored(t, crd, "v1", "v2")
	eventually(t, "store one as v2", func() error {
		m := i.run(t)
		patched(t, fast, fmt.Sprintf(`{"metadata":{"labels":{"written":%q}}}`, rand.Text()))
		m.stop(t)
		_, err := cluster.get(t, as("v2", fast))
		return err
	})
	readable(t, small, "v1")
	readable(t, fast, "v2")

	i.run(t)
	v.wantListed(t)
}

// volumes are an object created in v1 and one created in v2.
type volumes struct{ small, fast *unstructured.Unstructured }

func volumeResource(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: volumeGroup, Version: version, Resource: "volumes"}
}

// as returns a reference to o in another version.
func as(version string, o *unstructured.Unstructured) *unstructured.Unstructured {
	return object(volumeGroup+"/"+version, "Volume", o.GetNamespace(), o.GetName())
}

func wantSpec(t *testing.T, o *unstructured.Unstructured, want map[string]any) {
	t.Helper()
	got, err := cluster.get(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Object["spec"]); diff != "" || got.GetAPIVersion() != o.GetAPIVersion() {
		t.Errorf("%s, requested as %s, is %s: spec -want +got:\n%s", o.GetName(), o.GetAPIVersion(), got.GetAPIVersion(), diff)
	}
}

func gigabytes(n int64) map[string]any {
	return map[string]any{"storage": map[string]any{"gigabytes": n}}
}

func fastGigabytes(n int64) map[string]any {
	return map[string]any{"storage": map[string]any{"gigabytes": n, "class": "fast"}}
}

// wantConverted reads each object in both versions.
func (v volumes) wantConverted(t *testing.T) {
	t.Helper()
	wantSpec(t, as("v1", v.small), map[string]any{"size": "512Mi"})
	wantSpec(t, as("v2", v.small), gigabytes(1))
	wantSpec(t, as("v2", v.fast), fastGigabytes(20))
	wantSpec(t, as("v1", v.fast), map[string]any{"size": "20Gi"})
}

// wantListed lists both objects in each version, and compares the columns that kubectl prints.
func (v volumes) wantListed(t *testing.T) {
	t.Helper()
	for version, want := range map[string][]string{
		"v1": {"NAME SIZE READY REASON AGE", "fast 30Gi True Reconciled", "small 3Gi True Reconciled"},
		"v2": {"NAME GIGABYTES CLASS READY REASON AGE", "fast 30 fast True Reconciled", "small 3 True Reconciled"},
	} {
		all, err := cluster.resource(t, as(version, v.small)).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all.Items {
			if o.GetAPIVersion() != volumeGroup+"/"+version {
				t.Errorf("the list of %s contains a %s", version, o.GetAPIVersion())
			}
		}
		if len(all.Items) != 2 {
			t.Errorf("the list of %s has %d objects, want 2", version, len(all.Items))
		}
		got := kubectl(t, "get", "volumes."+version+"."+volumeGroup, "--namespace", v.small.GetNamespace())
		for n, line := range strings.Split(strings.TrimSpace(got), "\n") {
			if n >= len(want) || !strings.HasPrefix(strings.Join(strings.Fields(line), " "), want[n]) {
				t.Errorf("kubectl get volumes of %s prints\n%s\nwant lines with\n%s", version, got, strings.Join(want, "\n"))
				break
			}
		}
	}
}

// wantKept writes each object in the version that it was not created in. Fields that this
// version lacks are kept until a related field changes.
func (v volumes) wantKept(t *testing.T) {
	t.Helper()
	patched(t, as("v2", v.small), `{"metadata":{"labels":{"written":"v2"}}}`)
	wantSpec(t, as("v1", v.small), map[string]any{"size": "512Mi"})
	patched(t, as("v2", v.small), `{"spec":{"storage":{"gigabytes":3}}}`)
	wantSpec(t, as("v1", v.small), map[string]any{"size": "3Gi"})

	patched(t, as("v1", v.fast), `{"metadata":{"labels":{"written":"v1"}}}`)
	wantSpec(t, as("v2", v.fast), fastGigabytes(20))
	patched(t, as("v1", v.fast), `{"spec":{"size":"30Gi"}}`)
	wantSpec(t, as("v2", v.fast), fastGigabytes(30))

	// The API server converts the object for the webhooks, before it validates the fields.
	if _, err := cluster.patch(t, as("v1", v.small), `{"spec":{"size":"much"}}`); err == nil || !strings.Contains(err.Error(), `size "much"`) {
		t.Errorf("an invalid size: %v", err)
	}
}

// store changes the stored version.
func store(t *testing.T, crd *unstructured.Unstructured, version string) {
	t.Helper()
	eventually(t, "store "+version, func() error {
		now, err := cluster.get(t, crd)
		if err != nil {
			return err
		}
		for _, v := range at(now, "spec", "versions").([]any) {
			v := v.(map[string]any)
			v["storage"] = v["name"] == version
		}
		_, err = cluster.update(t, now)
		return err
	})
}

// wantStored compares the stored versions in the status of the CRD.
func wantStored(t *testing.T, crd *unstructured.Unstructured, want ...string) {
	t.Helper()
	now, err := cluster.get(t, crd)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedStringSlice(now.Object, "status", "storedVersions")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored versions -want +got:\n%s", diff)
	}
}

// readable checks that, without a manager, o can be read in the stored version and in no
// other one.
func readable(t *testing.T, o *unstructured.Unstructured, stored string) {
	t.Helper()
	for _, version := range []string{"v1", "v2"} {
		_, err := cluster.get(t, as(version, o))
		switch {
		case version == stored && err != nil:
			t.Errorf("%s is not stored as %s: %v", o.GetName(), version, err)
		case version != stored && (err == nil || !strings.Contains(err.Error(), "conversion webhook")):
			t.Errorf("%s is not converted to %s by the webhook: %v", o.GetName(), version, err)
		}
	}
}
