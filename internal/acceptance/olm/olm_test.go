//go:build testall

package olm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestOLM installs, upgrades and removes operators on one control plane. The tests of one package
// of OLM follow each other.
func TestOLM(t *testing.T) {
	c := start(t)
	c.expect(t, 1, []string{"the cluster has no Operator Lifecycle Manager"}, "olm", "status")
	testOnlyV1(t, c)
	c.installOLM(t)
	t.Run("packages", func(t *testing.T) {
		t.Run("lifecycle", func(t *testing.T) { t.Parallel(); testLifecycle(t, c) })
		t.Run("failures", func(t *testing.T) { t.Parallel(); testFailures(t, c) })
	})
}

// bundles writes bundles of a golden project, by version. The image of a version can be given.
func bundles(t *testing.T, project string, images map[string]string) (folder func(version string) string) {
	t.Helper()
	root := t.TempDir()
	treetest.Write(t, root, treetest.Read(t, goldentest.Dir(project)))
	for version, image := range images {
		operontest.Run(t, root, "bundle", "generate", "--version", version, "--image", image, "--output-dir", "v"+version)
	}
	return func(version string) string { return filepath.Join(root, "v"+version) }
}

// testOnlyV1 expects that operon recognizes a cluster with only OLM v1 by its CRD, and says what to use.
func testOnlyV1(t *testing.T, c *controlPlane) {
	t.Helper()
	client := c.objects.Resource(gvr("apiextensions.k8s.io/v1/customresourcedefinitions"))
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "clusterextensions.olm.operatorframework.io"},
		"spec": map[string]any{
			"group": "olm.operatorframework.io", "scope": "Cluster", "names": map[string]any{"plural": "clusterextensions", "kind": "ClusterExtension"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
		},
	}}
	if _, err := client.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for hint, args := range map[string][]string{
		"operon catalog extension example.org/fleet:v1 --catalog-image IMAGE | kubectl apply -f -": {"run", "bundle", "example.org/fleet:v1"},
		"kubectl delete clusterextension fleet":                                                    {"cleanup", "fleet"},
		"kubectl get clusterextensions,clustercatalogs":                                            {"olm", "status"},
	} {
		c.expect(t, 1, []string{"error: the cluster has only OLM v1", hint}, args...)
	}
	if err := client.Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

const (
	csvKind          = "operators.coreos.com/v1alpha1/clusterserviceversions"
	subscriptionKind = "operators.coreos.com/v1alpha1/subscriptions"
)

// testLifecycle installs a bundle with webhooks, upgrades it, upgrades it to a version that does
// not start, and removes it.
func testLifecycle(t *testing.T, c *controlPlane) {
	const ns = "aerospike-system"
	folder := bundles(t, "aerospike", map[string]string{
		"0.1.0": "example.org/aerospike:v1", "0.2.0": "example.org/aerospike:v2", "0.3.0": "example.org/" + broken + ":v3", "0.4.0": "example.org/" + slow + ":v4",
	})
	c.namespace(t, ns)
	before := c.snapshot(t, ns, "aerospike")
	c.expect(t, 2, []string{"package aerospike is not installed in namespace " + ns, "hint:  install it: operon run bundle BUNDLE"}, "run", "bundle-upgrade", folder("0.1.0"), "--local", "-n", ns)

	c.expect(t, 0, []string{"installed aerospike.v0.1.0 in namespace " + ns}, "run", "bundle", folder("0.1.0"), "--local", "-n", ns)
	c.expect(t, 0, []string{"nothing to do"}, "run", "bundle", folder("0.1.0"), "--local", "-n", ns)
	c.expect(t, 2, []string{"has aerospike.v0.1.0 already", "hint:  upgrade it"}, "run", "bundle", folder("0.2.0"), "--local", "-n", ns)
	now := strings.Join(c.snapshot(t, ns, "aerospike"), "\n")
	for _, want := range []string{
		"MutatingWebhookConfiguration /maerospikecluster", "ValidatingWebhookConfiguration /vaerospikecluster",
		"CustomResourceDefinition /aerospikeclusters.", "Deployment " + ns + "/aerospike-controller-manager", "ClusterServiceVersion default/aerospike.v0.1.0",
	} {
		if !strings.Contains(now, want) {
			t.Errorf("no %s in\n%s", want, now)
		}
	}
	for _, kind := range []string{"Subscription ", "CatalogSource "} { // before the user creates one
		if strings.Contains(now, kind) {
			t.Errorf("a %sis left in\n%s", kind, now)
		}
	}

	code, stderr := c.runUntilPod(t, ns, slow, syscall.SIGINT, "run", "bundle-upgrade", folder("0.4.0"), "--local", "-n", ns)
	if code != 130 || !strings.Contains(stderr, "aerospike.v0.1.0 is installed again") || !strings.Contains(stderr, "undid all changes") {
		t.Errorf("an interrupted upgrade ends with exit code %d", code)
	}
	c.subscribe(t, ns, "mine", "aerospike", "aerospike.v0.1.0")
	c.expect(t, 0, []string{"changed Subscription mine", "created Pod operon-aerospike", "upgraded to aerospike.v0.2.0"}, "run", "bundle-upgrade", folder("0.2.0"), "-n", ns)
	c.expect(t, 0, []string{"nothing to do"}, "run", "bundle-upgrade", folder("0.2.0"), "--local", "-n", ns)
	c.expect(t, 2, []string{"version 0.1.0 is not later"}, "run", "bundle-upgrade", folder("0.1.0"), "--local", "-n", ns)

	c.expect(t, 1, []string{
		"container manager waits: InvalidImageName: cannot parse it", "aerospike.v0.2.0 is installed again", "undid all changes",
	}, "run", "bundle-upgrade", folder("0.3.0"), "--local", "-n", ns)
	if owner := c.get(t, "rbac.authorization.k8s.io/v1/clusterroles", "", "aerospike-metrics-reader", "metadata", "labels", "olm.owner"); owner != "aerospike.v0.2.0" {
		t.Errorf("after a failed upgrade, a role of the bundle belongs to %s", owner)
	}
	if phase := c.get(t, csvKind, ns, "aerospike.v0.2.0", "status", "phase"); phase != "Succeeded" {
		t.Errorf("after failed upgrades, the previous version is in phase %s", phase)
	}
	c.expectRestored(t, ns)
	testNameCollisions(t, c, ns, folder("0.3.0"))
	testKilledUpgrade(t, c, ns, folder)

	c.expectStatus(t, "aerospike.v0.2.0", ns, "Succeeded")
	c.expect(t, 0, []string{"nothing to do", "package aerospike is in namespace " + ns}, "cleanup", "aerospike", "-n", "default")
	c.expect(t, 0, []string{"removed aerospike from namespace " + ns}, "cleanup", "aerospike", "-n", ns)
	c.unchanged(t, before, ns, "aerospike")
	c.expect(t, 0, []string{"nothing to do", "package aerospike is not installed"}, "cleanup", "aerospike", "-n", ns)
}

// testNameCollisions expects that an upgrade leaves objects of the user that have the names of those
// that operon would create.
func testNameCollisions(t *testing.T, c *controlPlane, ns, bundle string) {
	t.Helper()
	for _, tt := range []struct{ resource, kind, spec, flag string }{
		{"v1/configmaps", "ConfigMap", "data", "--use-http"}, // the catalog of a pod
		{"operators.coreos.com/v1alpha1/catalogsources", "CatalogSource", "spec", "--local"},
	} {
		client := c.objects.Resource(gvr(tt.resource)).Namespace(ns)
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gvr(tt.resource).GroupVersion().String(), "kind": tt.kind, "metadata": map[string]any{"name": "operon-aerospike"},
			tt.spec: map[string]any{"sourceType": "grpc", "address": "127.0.0.1:1"},
		}}
		if _, err := client.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.expect(t, 1, []string{"namespace " + ns + " already has " + tt.kind + " operon-aerospike", "undid all changes"}, "run", "bundle-upgrade", bundle, tt.flag, "-n", ns)
		c.expectRestored(t, ns)
		if err := client.Delete(t.Context(), "operon-aerospike", metav1.DeleteOptions{}); err != nil {
			t.Error(err) // the object of the user is gone
		}
	}
}

// testKilledUpgrade kills an upgrade that has changed the Subscription of the user, and expects that
// the next command restores it.
func testKilledUpgrade(t *testing.T, c *controlPlane, ns string, folder func(string) string) {
	t.Helper()
	c.runUntilPod(t, ns, slow, syscall.SIGKILL, "run", "bundle-upgrade", folder("0.3.0"), "-n", ns, "--index-image", "example.org/"+slow)
	if approval := c.get(t, subscriptionKind, ns, "mine", "spec", "installPlanApproval"); approval != "Manual" {
		t.Errorf("when the upgrade is killed, the approval is %s", approval)
	}
	c.expect(t, 0, []string{"changed Subscription mine", "deleted Pod operon-aerospike", "nothing to do"}, "run", "bundle-upgrade", folder("0.2.0"), "--local", "-n", ns)
	c.expectRestored(t, ns)
}

// expectRestored expects the Subscription as the user created it.
func (c *controlPlane) expectRestored(t *testing.T, ns string) {
	t.Helper()
	for key, want := range map[string]string{"source": "theirs", "installPlanApproval": "Automatic", "startingCSV": "<nil>"} {
		if got := c.get(t, subscriptionKind, ns, "mine", "spec", key); got != want {
			t.Errorf("spec.%s of the Subscription is %s, want %s", key, got, want)
		}
	}
}

// subscribe creates a Subscription of a user, from whose catalog OLM has installed an operator.
func (c *controlPlane) subscribe(t *testing.T, namespace, name, pkg, csv string) {
	t.Helper()
	client := c.objects.Resource(gvr(subscriptionKind)).Namespace(namespace)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"name": pkg, "channel": "stable", "source": "theirs", "sourceNamespace": namespace, "installPlanApproval": "Automatic"},
	}}
	if _, err := client.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	status := `{"status":{"installedCSV":"` + csv + `","currentCSV":"` + csv + `","state":"AtLatestKnown","lastUpdated":"2026-01-01T00:00:00Z"}}`
	if _, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// expectStatus expects an operator in operon olm status.
func (c *controlPlane) expectStatus(t *testing.T, name, namespace, status string) {
	t.Helper()
	_, stdout, _ := c.run(t, "olm", "status", "--output", "json")
	var report struct {
		Items []struct{ Name, Namespace, Kind, Status string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	for _, i := range report.Items {
		if i.Kind == "ClusterServiceVersion" && i.Name == name && i.Namespace == namespace && i.Status == status {
			return
		}
	}
	t.Errorf("no %s in %s", name, stdout)
}

// testFailures expects that bundles that cannot be installed are diagnosed, and that nothing of
// them is left.
func testFailures(t *testing.T, c *controlPlane) {
	const ns = "harbor-system"
	folder := bundles(t, "harbor", map[string]string{"0.1.0": "example.org/harbor:v1", "0.2.0": "example.org/" + broken + ":v2", "0.3.0": "example.org/" + slow + ":v3"})
	c.expect(t, 2, []string{"namespace " + ns + " does not exist"}, "run", "bundle", folder("0.1.0"), "--local", "-n", ns)
	c.namespace(t, ns)
	before := c.snapshot(t, ns, "harbor", "port.example.org")
	c.expect(t, 2, []string{"harbor.v0.1.0 supports AllNamespaces, not OwnNamespace"}, "run", "bundle", folder("0.1.0"), "--local", "-n", ns, "--install-mode", "OwnNamespace")

	t.Run("image", func(t *testing.T) {
		c.expect(t, 1, []string{
			"error: harbor.v0.2.0 does not start: pod harbor-controller-manager-", "container manager waits: InvalidImageName: cannot parse it", "undid all changes",
		}, "run", "bundle", folder("0.2.0"), "--local", "-n", ns)
		c.unchanged(t, before, ns, "harbor", "port.example.org")
	})
	t.Run("dependency", func(t *testing.T) {
		dependencies := filepath.Join(folder("0.1.0"), "metadata", "dependencies.yaml")
		treetest.WriteFile(t, dependencies, "dependencies:\n- type: olm.package\n  value: {packageName: pier, version: \">=1.0.0\"}\n")
		c.expect(t, 1, []string{"error: OLM cannot resolve harbor.v0.1.0: ", "pier", "undid all changes"}, "run", "bundle", folder("0.1.0"), "--local", "-n", ns)
		c.unchanged(t, before, ns, "harbor", "port.example.org")
		if err := os.Remove(dependencies); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		code, stderr := c.runUntilPod(t, ns, slow, syscall.SIGINT, "run", "bundle", folder("0.3.0"), "--local", "-n", ns)
		if code != 130 || !strings.Contains(stderr, "undid all changes") {
			t.Errorf("exit code %d", code)
		}
		c.unchanged(t, before, ns, "harbor", "port.example.org")
	})
}
