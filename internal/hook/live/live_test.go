package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/controlplane/servertest"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/config"
	"github.com/operon-dev/operon/internal/hook/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// TestServer does on one API server all that needs one.
func TestServer(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	c := open(t, server, "")
	version, err := c.Reach(t.Context())
	if err != nil || !strings.HasPrefix(version, "v1.") {
		t.Fatalf("version %q, %v", version, err)
	}
	t.Run("kinds", func(t *testing.T) { t.Parallel(); testKinds(t, c) })
	t.Run("bindings", func(t *testing.T) { t.Parallel(); testBindings(t, c) })
	t.Run("rights", func(t *testing.T) { t.Parallel(); testRights(t, c, open(t, server, "narrow")) })
	t.Run("webhooks", func(t *testing.T) { t.Parallel(); testWebhooks(t, c) })
}

// open connects to the server, as its administrator or on behalf of a user.
func open(t *testing.T, s servertest.Server, as string) *Cluster {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	user := "token: " + servertest.Token
	if as != "" {
		user += ", as: " + as
	}
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: test, contexts: [{name: test, context: {cluster: test, user: test}}],
clusters: [{name: test, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: test, user: {%s}}]}`, s.URL, user)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Where{Kubeconfig: file, Namespace: "mine"}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if c.Context != "test" || c.Namespace != "mine" || !strings.Contains(string(c.Kubeconfig), "namespace: mine") {
		t.Errorf("%s, %s:\n%s", c.Context, c.Namespace, c.Kubeconfig)
	}
	return c
}

// make creates an object, given in YAML.
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
			t.Errorf("%s is %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := c.Kind(t.Context(), "", "Deploymnt"); err == nil || !strings.Contains(err.Error(), "did you mean Deployment?") {
		t.Error(err)
	}
	c.make(t, fleetCRD)
	eventually(t, "a new kind is found", func() error {
		k, err := c.Kind(t.Context(), "", "sh")
		if err == nil && (k.Version != "v1" || !slices.Equal(k.Versions, []string{"v1", "v1beta1"}) || !k.Namespaced) {
			t.Errorf("%+v", k)
		}
		return err
	})
}

// binding reads one from YAML.
func binding(t *testing.T, text string) config.Kubernetes {
	t.Helper()
	conf, findings := config.Parse([]byte("configVersion: v1\nkubernetes:\n- " + text))
	if conf == nil {
		t.Fatal(findings)
	}
	return conf.Kubernetes[0]
}

// follow runs a binding, and returns what it saw at first and a channel of its news.
func (c *Cluster) follow(t *testing.T, text string) (first []string, news <-chan string) {
	t.Helper()
	b, err := c.Bind(t.Context(), binding(t, text))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range b.Objects() {
		first = append(first, key(o))
	}
	slices.Sort(first)
	told := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(ctx, News{
			Event: func(event string, o *unstructured.Unstructured) { told <- event + " " + key(o) },
			Selected: func(ns string, objects []*unstructured.Unstructured) {
				told <- fmt.Sprintf("Selected %s with %d", ns, len(objects))
			},
			Unselected: func(ns string) { told <- "Unselected " + ns },
			Trouble:    func(err error) { told <- "Trouble " + err.Error() },
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return first, told
}

func expect(t *testing.T, news <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-news:
			if !strings.HasPrefix(got, w) {
				t.Errorf("%s, want %s", got, w)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s did not come", w)
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
	first, labelled := c.follow(t, "{kind: cm, labelSelector: {matchLabels: {app: x}}, namespace: {nameSelector: {matchNames: [a, b]}}}")
	if diff := cmp.Diff([]string{"a/one", "b/two"}, first); diff != "" {
		t.Error(diff)
	}
	first, namedNews := c.follow(t, "{kind: ConfigMap, nameSelector: {matchNames: [one, three]}, namespace: {nameSelector: {matchNames: [a, b]}}}")
	if diff := cmp.Diff([]string{"a/one", "b/one"}, first); diff != "" {
		t.Error(diff)
	}
	first, fielded := c.follow(t, "{kind: ConfigMap, fieldSelector: {matchExpressions: [{field: metadata.namespace, operator: Equals, value: a}, {field: metadata.name, operator: '!=', value: kube-root-ca.crt}]}}")
	if diff := cmp.Diff([]string{"a/one"}, first); diff != "" {
		t.Error(diff)
	}
	first, teams := c.follow(t, "{kind: ConfigMap, namespace: {labelSelector: {matchExpressions: [{key: team, operator: In, values: [b, late]}]}}}")
	if diff := cmp.Diff([]string{"b/one", "b/two"}, first); diff != "" {
		t.Error(diff)
	}
	k, err := c.Kind(t.Context(), "v1", "ConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	cm("c", "three", "x")
	cm("a", "three", "z")
	expect(t, namedNews, "Added a/three")
	expect(t, fielded, "Added a/three")
	if _, err := c.Patch(t.Context(), k, "a", "one", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), ""); err != nil {
		t.Fatal(err)
	}
	expect(t, labelled, "Modified a/one")
	expect(t, namedNews, "Modified a/one")
	one.SetLabels(map[string]string{"app": "z"})
	one.SetResourceVersion("")
	if _, err := c.Update(t.Context(), k, one, ""); err != nil {
		t.Fatal(err)
	}
	expect(t, labelled, "Deleted a/one") // the selector matches it no more
	expect(t, namedNews, "Modified a/one")

	// Namespaces come and go with their labels, and no events with them.
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

// testRights follows what a user may follow who has rights by name, in one namespace.
func testRights(t *testing.T, c, narrow *Cluster) {
	c.make(t, "{apiVersion: v1, kind: Namespace, metadata: {name: rights}}")
	c.make(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {namespace: rights, name: narrow},
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [mine], verbs: [list, watch]}]}`)
	c.make(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: rights, name: narrow},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: narrow}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: narrow}]}`)
	const allowed = "{kind: Secret, nameSelector: {matchNames: [mine]}, namespace: {nameSelector: {matchNames: [rights]}}}"
	eventually(t, "the rights are there", func() error { _, err := narrow.Bind(t.Context(), binding(t, allowed)); return err })
	_, news := narrow.follow(t, allowed)
	c.make(t, "{apiVersion: v1, kind: Secret, metadata: {namespace: rights, name: other}}")
	c.make(t, "{apiVersion: v1, kind: Secret, metadata: {namespace: rights, name: mine}}")
	expect(t, news, "Added rights/mine")
	_, err := narrow.Bind(t.Context(), binding(t, "{kind: Secret, namespace: {nameSelector: {matchNames: [rights]}}}"))
	if !apierrors.IsForbidden(err) {
		t.Errorf("list of all: %v", err)
	}
}

func testWebhooks(t *testing.T, c *Cluster) {
	c.make(t, "{apiVersion: v1, kind: Namespace, metadata: {name: webhooks}}")
	c.make(t, strings.NewReplacer("fleet.", "navy.", "ships", "boats", "ship", "boat", "Ship", "Boat", "[sh]", "[bo]").Replace(fleetCRD))
	eventually(t, "the CRD is established", func() error { _, err := c.Kind(t.Context(), "navy.example.org/v1", "boats"); return err })
	s, err := c.Serve("", 0, Answers{
		Admit: func(_ context.Context, path string, r Review) (map[string]any, error) {
			var request struct{ Name string }
			if err := json.Unmarshal(r, &request); err != nil {
				return nil, err
			}
			if request.Name == "broken" {
				return nil, errors.New("it broke")
			}
			return map[string]any{"allowed": request.Name == "good", "status": map[string]any{"code": http.StatusForbidden, "message": "no " + request.Name + " at " + path}}, nil
		},
		Convert: func(_ context.Context, crd string, r Review) (map[string]any, error) {
			var request struct {
				DesiredAPIVersion string
				Objects           []*unstructured.Unstructured
			}
			if err := json.Unmarshal(r, &request); err != nil {
				return nil, err
			}
			for _, o := range request.Objects {
				o.SetAPIVersion(request.DesiredAPIVersion)
				o.Object["by"] = crd
			}
			return map[string]any{"convertedObjects": request.Objects, "result": map[string]any{"status": "Success"}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := config.Admission{Name: "v.example.org",
		Rules:     []config.Requests{{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}, Operations: []string{"CREATE"}, Scope: "Namespaced"}},
		Namespace: &config.NamespaceSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "webhooks"}}}}
	all := Webhooks{Validating: []Webhook{{"/v", a}}, CRDs: []string{"boats.navy.example.org"}}
	claim(t, c, s, all)
	k, _ := c.Kind(t.Context(), "v1", "ConfigMap")
	try := func(name string) error {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		o.SetNamespace("webhooks")
		o.SetGenerateName(name)
		o.SetName(name)
		if _, err := c.Create(t.Context(), k, o); err != nil {
			return err
		}
		return c.Delete(t.Context(), k, "webhooks", name, metav1.DeletePropagationBackground)
	}
	eventually(t, "the webhook denies", func() error {
		if err := try("bad"); err == nil || !strings.Contains(err.Error(), "no bad at /v") {
			return errors.Join(errors.New("it was not denied"), err)
		}
		return nil
	})
	if err := try("good"); err != nil {
		t.Error(err)
	}
	if err := try("broken"); err == nil || !strings.Contains(err.Error(), "it broke") {
		t.Errorf("a hook that breaks: %v", err)
	}
	c.make(t, "{apiVersion: navy.example.org/v1, kind: Boat, metadata: {namespace: webhooks, name: b}}")
	beta, _ := c.Kind(t.Context(), "navy.example.org/v1beta1", "Boat")
	eventually(t, "it is converted", func() error {
		o, err := c.Get(t.Context(), beta, "webhooks", "b")
		if err == nil && o.Object["by"] != "boats.navy.example.org" {
			err = fmt.Errorf("got %v", o)
		}
		return err
	})
	if err := c.Register(t.Context(), s, all, Webhooks{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), validatingKind, "", ConfigurationName); !apierrors.IsNotFound(err) {
		t.Errorf("the registration: %v", err)
	}
	crd, err := c.Get(t.Context(), crdKind, "", "boats.navy.example.org")
	if err != nil {
		t.Fatal(err)
	}
	conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, conversion); diff != "" || len(crd.GetAnnotations()) > 0 {
		t.Errorf("the conversion as it is left (-want +got):\n%s%v", diff, crd.GetAnnotations())
	}
	// What somebody else registered is left alone.
	c.make(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: "+ConfigurationName+"}}")
	mutating := Webhooks{Mutating: []Webhook{{"/m", a}}}
	err = c.Register(t.Context(), s, Webhooks{}, mutating)
	if err == nil || !strings.Contains(fault.HintOf(err), "delete mutatingwebhookconfigurations "+ConfigurationName) {
		t.Errorf("a registration of another: %v", err)
	}
	if err := c.Register(t.Context(), s, mutating, Webhooks{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), mutatingKind, "", ConfigurationName); err != nil {
		t.Errorf("the registration of another: %v", err)
	}
}

// claim registers webhooks at s, and leaves them registered. A run before that was
// killed does not matter, and one beside it is refused, whatever it tries.
func claim(t *testing.T, c *Cluster, s *Server, all Webhooks) {
	t.Helper()
	serve := func() *Server {
		t.Helper()
		other, err := c.Serve("", 0, Answers{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(other.Close)
		return other
	}
	lead := func(to *Server) {
		t.Helper()
		for i, name := range []string{ConfigurationName, all.CRDs[0]} {
			kind := []kinds.Kind{validatingKind, crdKind}[i]
			o, err := c.Get(t.Context(), kind, "", name)
			if err != nil {
				t.Fatal(err)
			}
			if at := clients(o); len(at) != 1 || !strings.HasPrefix(fmt.Sprint(at[0]["url"]), to.URL+"/") {
				t.Errorf("%s %s leads to %v, want %s", kind.Kind, name, at, to.URL)
			}
		}
	}
	killed := serve()
	if err := c.Register(t.Context(), killed, Webhooks{}, all); err != nil {
		t.Fatal(err)
	}
	lead(killed)
	killed.Close()
	if err := c.Register(t.Context(), s, Webhooks{}, all); err != nil {
		t.Fatal(err)
	}
	lead(s)
	other := serve()
	_, redirected := c.Redirect(t.Context(), Redirection{}, func(error) {})
	for _, tc := range []struct {
		what string
		err  error
	}{
		{"ValidatingWebhookConfiguration " + ConfigurationName, c.Register(t.Context(), other, Webhooks{}, all)},
		{"CustomResourceDefinition " + all.CRDs[0], c.Register(t.Context(), other, Webhooks{}, Webhooks{CRDs: all.CRDs})},
		{"ValidatingWebhookConfiguration " + ConfigurationName, redirected},
		{"CustomResourceDefinition " + all.CRDs[0], c.keepConversion(t.Context(), all.CRDs[0])},
	} {
		want := "another operon hooks run answers the API server for " + tc.what + ", at " + strings.TrimPrefix(s.URL, "https://")
		if tc.err == nil || !strings.Contains(tc.err.Error(), want) {
			t.Errorf("%v, want %s", tc.err, want)
		}
	}
	// It has nothing to take back.
	if err := c.Register(t.Context(), other, all, Webhooks{}); err != nil {
		t.Error(err)
	}
	lead(s)
	// Its own it may change, and again.
	for range 2 {
		if err := c.Register(t.Context(), s, all, all); err != nil {
			t.Fatal(err)
		}
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
