//go:build testall

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	bindings "github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// requestWebhooks select requests in every way except by matchConditions.
const requestWebhooks = `configVersion: v1
kubernetesValidating:
- {name: all.example.org, failurePolicy: Ignore, rules: &all [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"]}]}
- {name: whole.example.org, failurePolicy: Ignore, rules: [{apiGroups: [""], apiVersions: [v1], resources: ["*"], operations: ["*"]}]}
- {name: every-part.example.org, failurePolicy: Ignore, rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps/*], operations: ["*"]}]}
- {name: a-part.example.org, failurePolicy: Ignore, rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps/status, "*/scale"], operations: ["*"]}]}
- {name: inside.example.org, failurePolicy: Ignore, rules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"], scope: Namespaced}]}
- {name: outside.example.org, failurePolicy: Ignore, rules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"], scope: Cluster}]}
- {name: labelled.example.org, failurePolicy: Ignore, rules: *all, labelSelector: {matchLabels: {see: me}}}
- {name: unlabelled.example.org, failurePolicy: Ignore, rules: *all, labelSelector: {matchExpressions: [{key: see, operator: DoesNotExist}]}}
- {name: team.example.org, failurePolicy: Ignore, rules: *all, namespace: {labelSelector: {matchLabels: {team: a}}}}
- {name: no-team.example.org, failurePolicy: Ignore, rules: *all, namespace: {labelSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}}}
- {name: updates.example.org, failurePolicy: Ignore, rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps, namespaces], operations: [UPDATE]}]}
`

// requestSteps are applied in this order. A step without a kind deletes the object.
const requestSteps = `
- {apiVersion: v1, kind: Namespace, metadata: {name: request-a, labels: {team: a}}}
- {apiVersion: v1, kind: Namespace, metadata: {name: request-b, labels: {see: me}}}
- {apiVersion: v1, kind: Namespace, metadata: {name: request-c}}
- {apiVersion: v1, kind: ConfigMap, metadata: {namespace: request-a, name: request-x, labels: {see: me}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {namespace: request-a, name: request-x}}
- {apiVersion: v1, kind: ConfigMap, metadata: {namespace: request-a, name: request-x, labels: {other: x}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {namespace: request-b, name: request-y}}
- {apiVersion: v1, kind: ConfigMap, metadata: {namespace: request-b, name: request-y, labels: {see: me}}}
- {apiVersion: v1, metadata: {namespace: request-b, name: request-y}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: request-role}}
- {apiVersion: v1, kind: Namespace, metadata: {name: request-b, labels: {team: a}}}
- {apiVersion: v1, metadata: {name: request-a}}
- {apiVersion: v1, metadata: {name: request-c}}
`

// testRequests compares the requests that package binding creates, and their webhooks,
// with what an API server sends.
func testRequests(t *testing.T, c *Cluster) {
	conf, findings := config.Shell.Parse([]byte(requestWebhooks))
	if conf == nil {
		t.Fatal(findings)
	}
	var steps []map[string]any
	if err := yaml.Unmarshal([]byte(requestSteps), &steps); err != nil {
		t.Fatal(err)
	}
	send := registerRecorder(t, c, conf.Validating)
	var state bindings.Cluster
	for i, step := range steps {
		o := &unstructured.Unstructured{Object: step}
		r := bindings.Request{Operation: "CREATE", Object: o}
		for _, old := range state {
			if old.GetName() == o.GetName() {
				r = bindings.Request{Operation: "UPDATE", Object: o, Old: old}
			}
		}
		if o.GetKind() == "" {
			r = bindings.Request{Operation: "DELETE", Old: r.Old}
		}
		got := map[string]string{}
		for _, a := range conf.Validating {
			request, err := state.Request(a, r)
			if err == nil {
				got[a.Name] = describe(request)
			}
		}
		if diff := gocmp.Diff(send(r), got); diff != "" {
			t.Errorf("step %d, %s %s (-API server +operon):\n%s", i+1, r.Operation, o.GetName(), diff)
		}
		if r.Operation == "DELETE" {
			state = state.After("Deleted", r.Old)
		} else {
			state = state.After("Added", o)
		}
	}
}

// describe summarizes a request.
func describe(request map[string]any) string {
	old, now := request["oldObject"] != nil, request["object"] != nil
	return fmt.Sprintf("%v %v %v/%v, old object: %t, new object: %t", request["operation"], request["resource"], request["namespace"], request["name"], old, now)
}

// registerRecorder registers webhooks. It returns a function that sends a request to the
// API server and returns the requests that the webhooks received, by webhook name.
func registerRecorder(t *testing.T, c *Cluster, webhooks []config.Admission) func(bindings.Request) map[string]string {
	t.Helper()
	var mu sync.Mutex
	all := map[string]string{}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request, _ := review["request"].(map[string]any)
		if name := fmt.Sprint(request["name"]); strings.HasPrefix(name, "request-") {
			mu.Lock()
			defer mu.Unlock()
			all[strings.TrimPrefix(r.URL.Path, "/")] = describe(request)
		}
		delete(review, "request")
		review["response"] = map[string]any{"uid": request["uid"], "allowed": true}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(s.Close)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}}
	o.SetName("recorder")
	var entries []any
	for _, a := range webhooks {
		entries = append(entries, entry(t, s, a))
	}
	o.Object["webhooks"] = entries
	if _, err := c.Create(t.Context(), validatingKind, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the server stops
		if err := c.Delete(context.WithoutCancel(t.Context()), validatingKind, "", "recorder", metav1.DeletePropagationBackground); err != nil {
			t.Error(err)
		}
	})
	send := func(r bindings.Request) map[string]string {
		t.Helper()
		mu.Lock()
		clear(all)
		mu.Unlock()
		o := r.Object
		if o == nil {
			o = r.Old
		}
		k, err := c.Kind(t.Context(), o.GetAPIVersion(), o.GetKind())
		switch {
		case err != nil:
		case r.Operation == "CREATE":
			_, err = c.Create(t.Context(), k, o.DeepCopy())
		case r.Operation == "UPDATE":
			_, err = c.Update(t.Context(), k, o.DeepCopy(), "")
		default:
			err = c.Delete(t.Context(), k, o.GetNamespace(), o.GetName(), metav1.DeletePropagationBackground)
		}
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(all)
	}
	n := 0
	eventually(t, "webhooks receive requests", func() error {
		n++
		received := send(bindings.Request{Operation: "CREATE", Object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": fmt.Sprint("request-first-", n)}}}})
		if received["all.example.org"] == "" {
			return fmt.Errorf("received requests: %v", received)
		}
		return nil
	})
	return send
}

// entry returns the entry that shell-operator registers for a webhook, with the URL of s.
func entry(t *testing.T, s *httptest.Server, a config.Admission) any {
	t.Helper()
	w := admissionv1.ValidatingWebhook{
		Name: a.Name, AdmissionReviewVersions: []string{"v1"}, ObjectSelector: a.LabelSelector,
		FailurePolicy: new(admissionv1.Ignore), SideEffects: new(admissionv1.SideEffectClassNone),
		ClientConfig: admissionv1.WebhookClientConfig{
			URL:      new(s.URL + "/" + a.Name),
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		},
	}
	if a.Namespace != nil {
		w.NamespaceSelector = a.Namespace.LabelSelector
	}
	for _, r := range a.Rules {
		rule := admissionv1.RuleWithOperations{Rule: admissionv1.Rule{
			APIGroups: r.APIGroups, APIVersions: r.APIVersions, Resources: r.Resources, Scope: new(admissionv1.ScopeType(cmp.Or(r.Scope, "*"))),
		}}
		for _, o := range r.Operations {
			rule.Operations = append(rule.Operations, admissionv1.OperationType(o))
		}
		w.Rules = append(w.Rules, rule)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w)
	if err != nil {
		t.Fatal(err)
	}
	return object
}
