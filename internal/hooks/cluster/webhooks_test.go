//go:build testall

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// testWebhooks registers webhooks, sends requests that call them, and removes them.
func testWebhooks(t *testing.T, c *Cluster) {
	c.make(t, "{apiVersion: v1, kind: Namespace, metadata: {name: webhooks}}")
	c.make(t, strings.NewReplacer("fleet.", "navy.", "ships", "boats", "ship", "boat", "Ship", "Boat", "[sh]", "[bo]").Replace(fleetCRD))
	eventually(t, "the CRD is established", func() error { _, err := c.Kind(t.Context(), "navy.example.org/v1", "boats"); return err })
	s, err := c.Serve("", 0, Handlers{
		Admit: func(_ context.Context, path string, r Review) (map[string]any, error) {
			var request struct{ Name string }
			if err := json.Unmarshal(r, &request); err != nil {
				return nil, err
			}
			if request.Name == "broken" {
				return nil, errors.New("hook failed")
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
	checkOwnership(t, c, s, all)
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
			return errors.Join(errors.New("the request was not denied"), err)
		}
		return nil
	})
	if err := try("good"); err != nil {
		t.Error(err)
	}
	if err := try("broken"); err == nil || !strings.Contains(err.Error(), "hook failed") {
		t.Errorf("failing hook: got %v", err)
	}
	c.make(t, "{apiVersion: navy.example.org/v1, kind: Boat, metadata: {namespace: webhooks, name: b}}")
	beta, _ := c.Kind(t.Context(), "navy.example.org/v1beta1", "Boat")
	eventually(t, "the object is converted", func() error {
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
		t.Errorf("configuration after deregistration: %v, want not found", err)
	}
	crd, err := c.Get(t.Context(), crdKind, "", "boats.navy.example.org")
	if err != nil {
		t.Fatal(err)
	}
	conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, conversion); diff != "" || len(crd.GetAnnotations()) > 0 {
		t.Errorf("restored conversion (-want +got):\n%sannotations: %v", diff, crd.GetAnnotations())
	}
	checkRemoveStale(t, c, all)
	checkSlowDeletion(t, c)
	// The registrations of other programs stay.
	c.make(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: "+ConfigurationName+"}, webhooks: [{name: a.example.org, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1/a'}}]}")
	mutating := Webhooks{Mutating: []Webhook{{"/m", a}}}
	err = c.Register(t.Context(), s, Webhooks{}, mutating)
	if err == nil || !strings.Contains(fault.HintOf(err), "delete mutatingwebhookconfigurations "+ConfigurationName) {
		t.Errorf("register over another program's configuration: %v", err)
	}
	if err := c.Register(t.Context(), s, mutating, Webhooks{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), mutatingKind, "", ConfigurationName); err != nil {
		t.Errorf("configuration of another program: %v", err)
	}
}

// checkOwnership registers webhooks at s and keeps them registered. It checks that s
// replaces the webhooks of a killed run, and that another active run is rejected.
func checkOwnership(t *testing.T, c *Cluster, s *Server, all Webhooks) {
	t.Helper()
	serve := func() *Server {
		t.Helper()
		other, err := c.Serve("", 0, Handlers{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(other.Close)
		return other
	}
	checkURLs := func(to *Server) {
		t.Helper()
		for i, name := range []string{ConfigurationName, all.CRDs[0]} {
			kind := []kinds.Kind{validatingKind, crdKind}[i]
			o, err := c.Get(t.Context(), kind, "", name)
			if err != nil {
				t.Fatal(err)
			}
			if at := clientConfigs(o); len(at) != 1 || !strings.HasPrefix(fmt.Sprint(at[0]["url"]), to.URL+"/") {
				t.Errorf("%s %s: webhook at %v, want %s", kind.Kind, name, at, to.URL)
			}
		}
	}
	killed := serve()
	if err := c.Register(t.Context(), killed, Webhooks{}, all); err != nil {
		t.Fatal(err)
	}
	checkURLs(killed)
	killed.Close()
	if err := c.Register(t.Context(), s, Webhooks{}, all); err != nil {
		t.Fatal(err)
	}
	checkURLs(s)
	other := serve()
	_, redirected := c.Redirect(t.Context(), Redirection{}, func(error) {})
	for _, tc := range []struct {
		what string
		err  error
	}{
		{"ValidatingWebhookConfiguration " + ConfigurationName, c.Register(t.Context(), other, Webhooks{}, all)},
		{"CustomResourceDefinition " + all.CRDs[0], c.Register(t.Context(), other, Webhooks{}, Webhooks{CRDs: all.CRDs})},
		{"ValidatingWebhookConfiguration " + ConfigurationName, redirected},
		{"CustomResourceDefinition " + all.CRDs[0], c.saveConversion(t.Context(), all.CRDs[0])},
	} {
		want := "another operon hooks run serves the webhooks of " + tc.what + ", at " + strings.TrimPrefix(s.URL, "https://")
		if tc.err == nil || !strings.Contains(tc.err.Error(), want) {
			t.Errorf("%v, want %s", tc.err, want)
		}
	}
	// The other run has nothing to deregister.
	if err := c.Register(t.Context(), other, all, Webhooks{}); err != nil {
		t.Error(err)
	}
	checkURLs(s)
	// A run can register its own webhooks again.
	for range 2 {
		if err := c.Register(t.Context(), s, all, all); err != nil {
			t.Fatal(err)
		}
	}
}

// checkRemoveStale checks that RemoveStale removes the registrations of a killed run,
// and keeps those of a run that is active or starting.
func checkRemoveStale(t *testing.T, c *Cluster, all Webhooks) {
	t.Helper()
	check := func(what, want string) {
		t.Helper()
		if err := c.RemoveStale(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		configuration, err := c.informObject(t.Context(), validatingKind, ConfigurationName)
		if err != nil {
			t.Fatal(err)
		}
		crd, err := c.Get(t.Context(), crdKind, "", all.CRDs[0])
		if err != nil {
			t.Fatal(err)
		}
		strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy")
		if got := fmt.Sprintf("%d, %s, %d annotations", len(configuration.objects()), strategy, len(crd.GetAnnotations())); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	run, err := c.Serve("", 0, Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := c.saveConversion(t.Context(), all.CRDs[0]); err != nil {
		t.Fatal(err)
	}
	check("starting run", "0, None, 1 annotations")
	if err := c.Register(t.Context(), run, Webhooks{}, all); err != nil {
		t.Fatal(err)
	}
	check("active run", "1, Webhook, 1 annotations")
	run.Close()
	check("killed run", "0, None, 0 annotations")
}

// checkSlowDeletion checks that Redirect waits while a finalizer delays the deletion of
// the configuration of an ended run.
func checkSlowDeletion(t *testing.T, c *Cluster) {
	t.Helper()
	c.make(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration,
metadata: {name: `+ConfigurationName+`, labels: {`+managedByLabel+`: `+managedByValue+`}, finalizers: [example.org/slow]}}`)
	type result struct {
		remove func(context.Context) error
		err    error
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	redirected := make(chan result, 1)
	go func() {
		remove, err := c.Redirect(ctx, Redirection{Admission: "https://127.0.0.1:1"}, func(error) {})
		redirected <- result{remove, err}
	}()
	eventually(t, "the configuration is being deleted", func() error {
		o, err := c.Get(t.Context(), validatingKind, "", ConfigurationName)
		if err == nil && o.GetDeletionTimestamp() == nil {
			err = errors.New("the configuration has no deletionTimestamp")
		}
		return err
	})
	if _, err := c.Patch(t.Context(), validatingKind, "", ConfigurationName, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), ""); err != nil {
		t.Fatal(err)
	}
	r := <-redirected
	if r.err != nil || r.remove == nil {
		t.Fatalf("Redirect: error %v, has remove function: %t", r.err, r.remove != nil)
	}
	cancel()
	if err := r.remove(t.Context()); err != nil {
		t.Error(err)
	}
}
