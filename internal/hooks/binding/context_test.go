package binding

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRecorded compares contexts with those in testdata, which the engine passed to hooks in a
// cluster.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const watch = `configVersion: v1
onStartup: 1
schedule:
- {name: tick, crontab: "* * * * *", includeSnapshotsFrom: [cms]}
kubernetes:
- {name: cms, kind: ConfigMap, jqFilter: .data, nameSelector: {matchNames: [watched]}, includeSnapshotsFrom: [cms]}
kubernetesValidating:
- name: v.policy.example.com
  includeSnapshotsFrom: [cms]
  rules: &rules [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
kubernetesMutating:
- {name: m.policy.example.com, rules: *rules}
kubernetesCustomResourceConversion:
- {name: up, crdName: crontabs.stable.example.com, conversions: [{fromVersion: stable.example.com/v1alpha1, toVersion: stable.example.com/v1alpha2}]}
`
	const group = `configVersion: v1
kubernetes:
- {name: src_secret, kind: Secret, nameSelector: {matchNames: [mysecret]}, group: main}
- name: namespaces
  kind: Namespace
  jqFilter: '{namespace: .metadata.name, hasLabel: (.metadata.labels // {} | contains({"secret": "yes"}))}'
  keepFullObjectsInMemory: false
  group: main
- {name: dst_secrets, kind: Secret, labelSelector: {matchLabels: {managed-secret: "yes"}}, jqFilter: .metadata.namespace, keepFullObjectsInMemory: false, group: main}
`
	for file, tc := range map[string]struct {
		conf   string
		create func(c Cluster, conf *config.Config, recorded Context) (Context, error)
	}{
		"onStartup": {watch, func(Cluster, *config.Config, Context) (Context, error) { return Startup(), nil }},
		"Schedule": {watch, func(c Cluster, conf *config.Config, _ Context) (Context, error) {
			return c.Schedule(conf, conf.Schedule[0])
		}},
		"Synchronization": {watch, func(c Cluster, conf *config.Config, _ Context) (Context, error) {
			return c.Synchronization(conf, conf.Kubernetes[0])
		}},
		"Event": {watch, func(c Cluster, conf *config.Config, r Context) (Context, error) {
			return c.Event(conf, conf.Kubernetes[0], "Added", object(r["object"]), nil)
		}},
		"Group": {group, func(c Cluster, conf *config.Config, _ Context) (Context, error) {
			return c.Synchronization(conf, conf.Kubernetes[2])
		}},
		"Validating": {watch, func(c Cluster, conf *config.Config, r Context) (Context, error) {
			return c.Admission(conf, conf.Validating[0], false, Request{Operation: "CREATE", Object: object(request(r)["object"])})
		}},
		"Mutating": {watch, func(c Cluster, conf *config.Config, r Context) (Context, error) {
			return c.Admission(conf, conf.Mutating[0], true, Request{Operation: "CREATE", Object: object(request(r)["object"])})
		}},
		"Conversion": {watch, func(c Cluster, conf *config.Config, r Context) (Context, error) {
			rule := conf.Conversion[0].Conversions[0]
			return c.Conversion(conf, conf.Conversion[0], rule.FromVersion, rule.ToVersion, rule.ToVersion,
				[]*unstructured.Unstructured{object(request(r)["objects"].([]any)[0])})
		}},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile("testdata/" + file + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var recorded []Context
			if err := json.Unmarshal(content, &recorded); err != nil {
				t.Fatal(err)
			}
			conf, findings := config.Shell.Parse([]byte(tc.conf))
			if conf == nil {
				t.Fatal(findings)
			}
			created, err := tc.create(clusterOf(recorded[0]), conf, recorded[0])
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(created)
			if err != nil {
				t.Fatal(err)
			}
			var got Context
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			// The recorded requests were written by hand: they have objects without a namespace,
			// and lack the fields that an API server adds.
			for key, want := range request(recorded[0]) {
				if key != "uid" && key != "userInfo" && key != "namespace" && !cmp.Equal(request(got)[key], want) {
					t.Errorf("review.request.%s is %v, want %v", key, request(got)[key], want)
				}
			}
			delete(got, "review")
			delete(recorded[0], "review")
			if diff := cmp.Diff(recorded[0], got); diff != "" {
				t.Errorf("the context (-engine +operon):\n%s", diff)
			}
		})
	}
}

func request(c Context) map[string]any {
	review, _ := c["review"].(map[string]any)
	r, _ := review["request"].(map[string]any)
	return r
}

func object(v any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: v.(map[string]any)}
}

// clusterOf returns the objects of the cluster in which a context was recorded. It takes them
// from the snapshots, and derives namespaces from the results of their filter.
func clusterOf(c Context) Cluster {
	var cluster Cluster
	snapshots, _ := c["snapshots"].(map[string]any)
	for name, items := range snapshots {
		for _, i := range items.([]any) {
			fields := i.(map[string]any)
			if o, exists := fields["object"]; exists {
				cluster = append(cluster, object(o))
				continue
			}
			if name != "namespaces" {
				continue
			}
			result := fields["filterResult"].(map[string]any)
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
			o.SetName(result["namespace"].(string))
			if result["hasLabel"] == true {
				o.SetLabels(map[string]string{"secret": "yes"})
			}
			cluster = append(cluster, o)
		}
	}
	return cluster
}

// TestSelect checks which objects a binding selects.
func TestSelect(t *testing.T) {
	t.Parallel()
	conf, findings := config.Shell.Parse([]byte(`configVersion: v1
kubernetes:
- {name: plural, kind: configmaps}
- {name: short, kind: CM}
- {name: other version, apiVersion: v2, kind: ConfigMap}
- {name: other kind, kind: Pod}
- {name: by label, kind: ConfigMap, labelSelector: {matchExpressions: [{key: app, operator: Exists}]}}
- {name: by field, kind: ConfigMap, fieldSelector: {matchExpressions: [{field: metadata.name, operator: "!=", value: a}]}}
- {name: by field too, kind: ConfigMap, fieldSelector: {matchExpressions: [{field: metadata.namespace, operator: Equals, value: "n"}]}}
- {name: by field of others, kind: ConfigMap, fieldSelector: {matchExpressions: [{field: metadata.name, operator: NotEquals, value: b}]}}
- {name: by namespace, kind: ConfigMap, namespace: {nameSelector: {matchNames: [m]}}}
- {name: by labels of namespaces, kind: ConfigMap, namespace: {labelSelector: {matchLabels: {team: a}}}}
- {name: by labels and names of namespaces, kind: ConfigMap, namespace: {labelSelector: {matchLabels: {team: a}}, nameSelector: {matchNames: [m]}}}
- {name: by labels of others, kind: ConfigMap, namespace: {labelSelector: {matchLabels: {team: b}}}}
`))
	if conf == nil {
		t.Fatal(findings)
	}
	a := object(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "n"}})
	ns := object(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "n", "labels": map[string]any{"team": "a"}}})
	want := map[string]bool{"plural": true, "short": true, "by field too": true, "by field of others": true, "by labels of namespaces": true, "by labels and names of namespaces": true}
	for _, k := range conf.Kubernetes {
		reason, err := Cluster{a, ns}.mismatch(kubeapi.Builtin(), k, a)
		if err != nil || (reason == "") != want[k.Name] {
			t.Errorf("%s: selected %t, want %t (%s, %v)", k.Name, reason == "", want[k.Name], reason, err)
		}
	}
}

// TestSelectByField checks field selectors with the fields that an API server supports.
func TestSelectByField(t *testing.T) {
	t.Parallel()
	pod := object(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "n"},
		"spec": map[string]any{"nodeName": "one"}, "status": map[string]any{"phase": "Running"}})
	for _, tc := range []struct{ field, operator, value, want string }{
		{"status.phase", "Equals", "Running", ""},
		{"spec.nodeName", "=", "one", ""},
		{"spec.nodeName", "!=", "one", `its fieldSelector does not match: spec.nodeName is "one"`},
		{"status.podIP", "==", "", ""},
		{"spec.hostNetwork", "NotEquals", "true", ""},
		{"spec.nodename", "=", "one", "fieldSelector of kubernetes: the API server does not support spec.nodename in field selectors for Pod"},
	} {
		k := config.Kubernetes{Kind: "Pod", FieldSelector: &config.FieldSelector{}}
		k.FieldSelector.MatchExpressions = append(k.FieldSelector.MatchExpressions, struct{ Field, Operator, Value string }{tc.field, tc.operator, tc.value})
		got, err := Cluster{pod}.mismatch(kubeapi.Builtin(), k, pod)
		if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s %s %s: %q, want %q", tc.field, tc.operator, tc.value, got, tc.want)
		}
	}
}

// TestRequest checks the errors of admission requests. Package testcluster compares valid
// requests with an API server's.
func TestRequest(t *testing.T) {
	t.Parallel()
	crd := object(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "tabs.example.org"},
		"spec": map[string]any{"group": "example.org", "scope": "Namespaced", "names": map[string]any{"kind": "Tab", "plural": "tabs"}, "versions": []any{
			map[string]any{"name": "v1", "served": true, "storage": true}, map[string]any{"name": "v1beta1", "served": true, "storage": false}}}})
	a := config.Admission{Name: "v.example.org", Rules: []config.Requests{{APIGroups: []string{"example.org"}, APIVersions: []string{"v1"}, Resources: []string{"tabs"}, Operations: []string{"CREATE"}}}}
	for version, want := range map[string]string{
		"v1":      "",
		"v1beta1": "the API server converts tabs to version v1 for v.example.org: provide the object in that version",
	} {
		tab := object(map[string]any{"apiVersion": "example.org/" + version, "kind": "Tab", "metadata": map[string]any{"name": "a", "namespace": "n"}})
		got := ""
		if _, err := (Cluster{crd}).Request(a, Request{Operation: "CREATE", Object: tab}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
	pod := object(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "n"}})
	for _, tc := range []struct {
		operation   string
		object, old *unstructured.Unstructured
		want        string
	}{
		{"", pod, nil, "CREATE"}, {"", pod, pod, "UPDATE"}, {"", nil, pod, "DELETE"}, {"DELETE", pod, nil, "DELETE"}, {"CONNECT", pod, nil, "CONNECT"},
		{"", nil, nil, "a DELETE request must have an object"},
		{"DELETE", nil, nil, "a DELETE request must have an object"},
		{"CREATE", pod, pod, "a CREATE request must have an object and no old object"},
		{"UPDATE", pod, nil, "an UPDATE request must have an object and an old object"},
		{"create", pod, nil, `unknown operation "create": it must be CREATE, UPDATE, DELETE or CONNECT`},
	} {
		r, err := NewRequest(tc.operation, tc.object, tc.old)
		got := r.Operation
		if err != nil {
			got = err.Error()
		}
		if got != tc.want || err == nil && (r.Object == nil) != (r.Operation == "DELETE") {
			t.Errorf("%s: %q, want %q", tc.operation, got, tc.want)
		}
	}
}

// TestFilter checks the results of filters.
func TestFilter(t *testing.T) {
	t.Parallel()
	o := object(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"n": int64(3)}})
	for filter, want := range map[string]any{
		".data.n": 3.0, "empty": nil, ".data.n, .kind": []any{3.0, "ConfigMap"}, ".data.n + 1": 4.0,
	} {
		view, err := NewView(config.Kubernetes{JQFilter: filter})
		if err != nil {
			t.Fatal(err)
		}
		i, err := view.Item(o)
		if err != nil || !cmp.Equal(i.result, want) {
			t.Errorf("%s: %#v, %v, want %#v", filter, i.result, err, want)
		}
	}
	failing, err := NewView(config.Kubernetes{JQFilter: ".data.n.x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := failing.Item(o); err == nil {
		t.Error("a failing filter must be an error")
	}
	endless, err := NewView(config.Kubernetes{JQFilter: "def f: f; f"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := endless.run(o, time.Millisecond); err == nil || err.Error() != "no result within 1ms; the engine has no time limit" {
		t.Errorf("endless filter: %v", err)
	}
}
