//go:build testall

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testRedirection registers webhooks like shell-operator, and checks where the API server calls them.
func testRedirection(t *testing.T, c *Cluster) {
	c.make(t, strings.NewReplacer("fleet.", "navy.", "ships", "boats", "ship", "boat", "Ship", "Boat", "[sh]", "[bo]").Replace(fleetCRD))
	const crd = "boats.navy.example.org"
	r := Redirection{Configuration: "redirected-hooks", CRDs: []string{crd}, Admission: "https://127.0.0.1:1", Conversion: "https://127.0.0.1:2"}
	if err := r.Prepare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx, c, func(err error) { t.Error(err) })
	}()
	defer func() { end(); <-ended }()
	c.make(t, configurationOf(r.Configuration, "service: {namespace: default, name: any, path: /hooks/a}"))
	err := c.changeCRD(t.Context(), crd, func(o *unstructured.Unstructured) error {
		return unstructured.SetNestedMap(o.Object, map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"service": map[string]any{"namespace": "default", "name": "any", "path": "/" + crd}},
		}}, "spec", "conversion")
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the webhooks are redirected", func() error {
		hook, err := c.Get(t.Context(), validatingKind, "", r.Configuration)
		if err != nil {
			return err
		}
		conversion, err := c.Get(t.Context(), crdKind, "", crd)
		if err != nil {
			return err
		}
		got := fmt.Sprint(clientConfigs(hook)[0]["url"], " ", clientConfigs(conversion)[0]["url"])
		if want := "https://127.0.0.1:1/hooks/a https://127.0.0.1:2/" + crd; got != want {
			return errors.New("got " + got)
		}
		return nil
	})
	end()
	<-ended
	// The run was killed: the next one takes over, or restores the state before the first one.
	if err := r.Prepare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := (Redirection{Configuration: r.Configuration}).RemoveStale(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	wantRestored(t, c, r)
	// A run that has ended by itself removes its webhooks.
	if err := r.Prepare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := (Redirection{Configuration: r.Configuration}).RemoveStale(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Get(t.Context(), crdKind, "", crd); err != nil || len(o.GetAnnotations()) == 0 {
		t.Errorf("the saved conversion of a starting run: %v, %v", o.GetAnnotations(), err)
	}
	if err := r.Remove(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	wantRestored(t, c, r)
	testRefusals(t, c)
}

// wantRestored checks that nothing is left of a redirection.
func wantRestored(t *testing.T, c *Cluster, r Redirection) {
	t.Helper()
	if _, err := c.Get(t.Context(), validatingKind, "", r.Configuration); !apierrors.IsNotFound(err) {
		t.Errorf("the configuration after its removal: %v", err)
	}
	restored, err := c.Get(t.Context(), crdKind, "", r.CRDs[0])
	if err != nil {
		t.Fatal(err)
	}
	conversion, _, _ := unstructured.NestedMap(restored.Object, "spec", "conversion")
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, conversion); diff != "" || len(restored.GetAnnotations()) > 0 {
		t.Errorf("the restored conversion (-want +got):\n%sannotations: %v", diff, restored.GetAnnotations())
	}
}

// testRefusals checks that webhooks of others stay.
func testRefusals(t *testing.T, c *Cluster) {
	t.Helper()
	active, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = active.Close() }()
	c.make(t, configurationOf("deployed-hooks", "service: {namespace: default, name: any, path: /hooks/a}"))
	running := c.make(t, configurationOf("running-hooks", "url: https://"+active.Addr().String()+"/hooks/a"))
	running.SetLabels(map[string]string{managedByLabel: managedByHooks})
	if _, err := c.Update(t.Context(), validatingKind, running, ""); err != nil {
		t.Fatal(err)
	}
	const crd = "boats.navy.example.org"
	err = c.changeCRD(t.Context(), crd, func(o *unstructured.Unstructured) error {
		return redirectConversion(o, "https://"+active.Addr().String()+"/"+crd, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		r          Redirection
		want, hint string
	}{
		{Redirection{Configuration: "deployed-hooks"}, "ValidatingWebhookConfiguration deployed-hooks exists: a shell-operator registered", "kubectl --context test delete ValidatingWebhookConfiguration deployed-hooks"},
		{Redirection{Configuration: "running-hooks"}, "another operon hooks run serves the webhooks of ValidatingWebhookConfiguration running-hooks, at " + active.Addr().String(), "stop that run"},
		{Redirection{Configuration: "none", CRDs: []string{crd}}, "another operon hooks run serves the webhooks of CustomResourceDefinition " + crd, "stop that run"},
		{Redirection{Configuration: "none", CRDs: []string{"none.example.org"}}, "CustomResourceDefinition none.example.org does not exist", "make install"},
	} {
		err := tc.r.Prepare(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(fault.HintOf(err), tc.hint) {
			t.Errorf("%v, want %s", err, tc.want)
		}
		if _, err := c.Get(t.Context(), validatingKind, "", tc.r.Configuration); err != nil && tc.r.CRDs == nil {
			t.Error(err)
		}
	}
}

func configurationOf(name, client string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ` + name + `}
webhooks:
- name: a.example.org
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Ignore
  namespaceSelector: {matchLabels: {redirection: "yes"}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  clientConfig: {` + client + `}
`
}
