//go:build testall

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	bindings "github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
// with those of an API server.
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
		if diff := cmp.Diff(send(r), got); diff != "" {
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
	s, err := c.Serve("", 0, Handlers{Admit: func(_ context.Context, path string, r Review) (map[string]any, error) {
		var request map[string]any
		err := json.Unmarshal(r, &request)
		if name := fmt.Sprint(request["name"]); strings.HasPrefix(name, "request-") {
			mu.Lock()
			defer mu.Unlock()
			all[strings.TrimPrefix(path, "/")] = describe(request)
		}
		return map[string]any{"allowed": err == nil}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}}
	o.SetName("recorder")
	var entries []any
	for _, a := range webhooks {
		entry, err := Webhook{Path: "/" + a.Name, Admission: a}.entry(s)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
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
