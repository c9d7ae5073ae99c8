//go:build testall

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// TestServer runs the tests that need an API server on one server.
func TestServer(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	c := open(t, server, "")
	version, err := c.ServerVersion(t.Context())
	if err != nil || !strings.HasPrefix(version, "v1.") {
		t.Fatalf("version %q, %v", version, err)
	}
	t.Run("kinds", func(t *testing.T) { t.Parallel(); testKinds(t, c) })
	t.Run("bindings", func(t *testing.T) { t.Parallel(); testBindings(t, c) })
	t.Run("sync", func(t *testing.T) { t.Parallel(); testSync(t, open(t, server, "")) })
	t.Run("permissions", func(t *testing.T) { t.Parallel(); testPermissions(t, c, open(t, server, "narrow")) })
	t.Run("redirection", func(t *testing.T) { t.Parallel(); testRedirection(t, c) })
	t.Run("requests", func(t *testing.T) { t.Parallel(); testRequests(t, c) })
}

// open connects to the server as its administrator, or as a user.
func open(t *testing.T, s servertest.Server, as string) *Cluster {
	t.Helper()
	c, err := Open(ClientOptions{Kubeconfig: s.Kubeconfig(as), Namespace: "mine"}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if c.Context != "test" || c.Namespace != "mine" || !strings.Contains(string(c.Kubeconfig), "namespace: mine") {
		t.Errorf("%s, %s:\n%s", c.Context, c.Namespace, c.Kubeconfig)
	}
	return c
}

// make creates an object from YAML.
func (c *Cluster) make(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	k, err := c.Kind(t.Context(), o.GetAPIVersion(), o.GetKind())
	if err == nil {
		o, err = c.Create(t.Context(), k, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const fleetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.fleet.example.org}
spec:
  group: fleet.example.org
  scope: Namespaced
  names: {plural: ships, singular: ship, kind: Ship, shortNames: [sh]}
  versions:
  - {name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1beta1, served: true, storage: false, schema: *any}
`

func testKinds(t *testing.T, c *Cluster) {
	for name, want := range map[string]string{"deploy": "apps/v1 deployments", "Pods": "v1 pods", "clusterrole": "rbac.authorization.k8s.io/v1 clusterroles"} {
		k, err := c.Kind(t.Context(), "", name)
		if got := k.APIVersion() + " " + k.Resource; err != nil || got != want {
			t.Errorf("kind %s: got %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := c.Kind(t.Context(), "", "Deploymnt"); err == nil || !strings.Contains(err.Error(), "did you mean Deployment?") {
		t.Error(err)
	}
	c.make(t, fleetCRD)
	eventually(t, "discovery of a new kind", func() error {
		k, err := c.Kind(t.Context(), "", "sh")
		if err == nil && (k.Version != "v1" || !slices.Equal(k.Versions, []string{"v1", "v1beta1"}) || !k.Namespaced) {
			t.Errorf("%+v", k)
		}
		return err
	})
}

// binding parses a binding.
func binding(t *testing.T, text string) config.Kubernetes {
	t.Helper()
	conf, findings := config.Shell.Parse([]byte("configVersion: v1\nkubernetes:\n- " + text))
	if conf == nil {
		t.Fatal(findings)
	}
	return conf.Kubernetes[0]
}

// watch runs a binding. It returns the first objects and a channel of the events.
func (c *Cluster) watch(t *testing.T, text string) (first []string, events <-chan string) {
	t.Helper()
	b, err := c.Bind(t.Context(), binding(t, text))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range b.Objects() {
		first = append(first, key(o))
	}
	slices.Sort(first)
	received := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx, EventHandler{
			Event: func(event string, o *unstructured.Unstructured) { received <- event + " " + key(o) },
			Selected: func(ns string, objects []*unstructured.Unstructured) {
				received <- fmt.Sprintf("Selected %s with %d", ns, len(objects))
			},
			Unselected: func(ns string) { received <- "Unselected " + ns },
			Error:      func(err error) { received <- "Error " + err.Error() },
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return first, received
}

func expect(t *testing.T, events <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-events:
			if !strings.HasPrefix(got, w) {
				t.Errorf("got event %s, want %s", got, w)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no event %s within a minute", w)
		}
	}
}

func testBindings(t *testing.T, c *Cluster) {
	for _, ns := range []string{"a", "b", "c"} {
		c.make(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {team: %s}}}", ns, ns))
	}
	cm := func(ns, name, label string) *unstructured.Unstructured {
		t.Helper()
		return c.make(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: %s, labels: {app: %s}}}", ns, name, label))
	}
	one := cm("a", "one", "x")
	cm("b", "one", "w")
	cm("b", "two", "x")
	first, labelled := c.watch(t, "{kind: cm, labelSelector: {matchLabels: {app: x}}, namespace: {nameSelector: {matchNames: [a, b]}}}")
	if diff := cmp.Diff([]string{"a/one", "b/two"}, first); diff != "" {
		t.Error(diff)
	}
	first, byName := c.watch(t, "{kind: ConfigMap, nameSelector: {matchNames: [one, three]}, namespace: {nameSelector: {matchNames: [a, b]}}}")
	if diff := cmp.Diff([]string{"a/one", "b/one"}, first); diff != "" {
		t.Error(diff)
	}
	first, byField := c.watch(t, "{kind: ConfigMap, fieldSelector: {matchExpressions: [{field: metadata.namespace, operator: Equals, value: a}, {field: metadata.name, operator: '!=', value: kube-root-ca.crt}]}}")
	if diff := cmp.Diff([]string{"a/one"}, first); diff != "" {
		t.Error(diff)
	}
	first, teams := c.watch(t, "{kind: ConfigMap, namespace: {labelSelector: {matchExpressions: [{key: team, operator: In, values: [b, late]}]}}}")
	if diff := cmp.Diff([]string{"b/one", "b/two"}, first); diff != "" {
		t.Error(diff)
	}
	k, err := c.Kind(t.Context(), "v1", "ConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	cm("c", "three", "x")
	cm("a", "three", "z")
	expect(t, byName, "Added a/three")
	expect(t, byField, "Added a/three")
	if _, err := c.Patch(t.Context(), k, "a", "one", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), ""); err != nil {
		t.Fatal(err)
	}
	expect(t, labelled, "Modified a/one")
	expect(t, byName, "Modified a/one")
	one.SetLabels(map[string]string{"app": "z"})
	one.SetResourceVersion("")
	if _, err := c.Update(t.Context(), k, one, ""); err != nil {
		t.Fatal(err)
	}
	expect(t, labelled, "Deleted a/one") // the selector no longer matches
	expect(t, byName, "Modified a/one")

	// Namespaces that start or stop matching cause no events for their objects.
	namespaces := func(name, team string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"labels":{"team":%q}}}`, team)
		if _, err := c.Patch(t.Context(), namespaceKind, "", name, types.MergePatchType, []byte(patch), ""); err != nil {
			t.Fatal(err)
		}
	}
	namespaces("c", "late")
	expect(t, teams, "Selected c with 1")
	if err := c.Delete(t.Context(), k, "c", "three", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	expect(t, teams, "Deleted c/three")
	namespaces("b", "gone")
	expect(t, teams, "Unselected b")
	cm("b", "unseen", "w")
	cm("c", "seen", "w")
	expect(t, teams, "Added c/seen")
}

// testSync asks whether a binding that reports no events is in sync with the API server.
func testSync(t *testing.T, c *Cluster) {
	b, err := c.Bind(t.Context(), binding(t, "{kind: Endpoints, namespace: {nameSelector: {matchNames: [kube-public]}}}"))
	if err != nil {
		t.Fatal(err)
	}
	changed, known := "", false
	want := func(what string, synced bool) {
		t.Helper()
		if got, err := b.Synced(t.Context()); err != nil || got != synced {
			t.Errorf("%s: in sync: %t, %v", what, got, err)
		}
	}
	want("before a change", true)
	late := c.make(t, "{apiVersion: v1, kind: Endpoints, metadata: {namespace: kube-public, name: late}}")
	want("after it", false)
	for _, i := range b.informers {
		i.revisionOf = func(kubeapi.Kind) (string, bool) { return changed, known }
	}
	want("if it is unknown", false)
	changed, known = late.GetResourceVersion(), true
	want("if it is known", false)
	changed = b.informers[0].revision
	want("if it was before the list", true)
	changed = ""
	want("if there was none", true)
}

// testPermissions watches with permissions for one name in one namespace.
func testPermissions(t *testing.T, c, narrow *Cluster) {
	c.make(t, "{apiVersion: v1, kind: Namespace, metadata: {name: rights}}")
	c.make(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {namespace: rights, name: narrow},
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [mine], verbs: [list, watch]}]}`)
	c.make(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: rights, name: narrow},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: narrow}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: narrow}]}`)
	const allowed = "{kind: Secret, nameSelector: {matchNames: [mine]}, namespace: {nameSelector: {matchNames: [rights]}}}"
	eventually(t, "permissions take effect", func() error { _, err := narrow.Bind(t.Context(), binding(t, allowed)); return err })
	_, events := narrow.watch(t, allowed)
	c.make(t, "{apiVersion: v1, kind: Secret, metadata: {namespace: rights, name: other}}")
	c.make(t, "{apiVersion: v1, kind: Secret, metadata: {namespace: rights, name: mine}}")
	expect(t, events, "Added rights/mine")
	_, err := narrow.Bind(t.Context(), binding(t, "{kind: Secret, namespace: {nameSelector: {matchNames: [rights]}}}"))
	if !apierrors.IsForbidden(err) {
		t.Errorf("list of all secrets: got %v, want forbidden", err)
	}
}

// eventually calls f until it returns nil.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
