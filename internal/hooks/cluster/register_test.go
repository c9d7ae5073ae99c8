//go:build testall

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/config"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// TestEntry checks that webhooks are registered with the engine's defaults and the
// fields of the hook.
func TestEntry(t *testing.T) {
	t.Parallel()
	conf, findings := config.Shell.Parse([]byte(`configVersion: v1
kubernetesValidating:
- name: least.example.org
  rules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: ["*"]}]
- name: most.example.org
  rules: [{apiGroups: [""], apiVersions: ["*"], resources: [pods, pods/status], operations: [CREATE, UPDATE], scope: Namespaced}]
  failurePolicy: Ignore
  sideEffects: NoneOnDryRun
  timeoutSeconds: 3
  labelSelector: {matchLabels: {app: x}}
  namespace: {labelSelector: {matchExpressions: [{key: team, operator: Exists}]}}
  matchConditions: [{name: other, expression: 'request.userInfo.username != "me"'}]
`))
	if conf == nil {
		t.Fatal(findings)
	}
	s := &Server{URL: "https://127.0.0.1:1", CA: []byte("ca")}
	client := func(path string) map[string]any {
		return map[string]any{"url": "https://127.0.0.1:1" + path, "caBundle": "Y2E="}
	}
	for i, want := range []map[string]any{
		{
			"name": "least.example.org", "matchPolicy": "Equivalent", "failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": int64(10),
			"admissionReviewVersions": []any{"v1"}, "clientConfig": client("/a%20b/0"),
			"rules": []any{map[string]any{"apiGroups": []any{"apps"}, "apiVersions": []any{"v1"}, "resources": []any{"deployments"}, "operations": []any{"*"}, "scope": "*"}},
		},
		{
			"name": "most.example.org", "matchPolicy": "Equivalent", "failurePolicy": "Ignore", "sideEffects": "NoneOnDryRun", "timeoutSeconds": int64(3),
			"admissionReviewVersions": []any{"v1"}, "clientConfig": client("/a%20b/1"),
			"rules": []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"*"}, "resources": []any{"pods", "pods/status"},
				"operations": []any{"CREATE", "UPDATE"}, "scope": "Namespaced"}},
			"objectSelector":    map[string]any{"matchLabels": map[string]any{"app": "x"}},
			"namespaceSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": "team", "operator": "Exists"}}},
			"matchConditions":   []any{map[string]any{"name": "other", "expression": `request.userInfo.username != "me"`}},
		},
	} {
		got, err := Webhook{Path: "/a b/" + string(rune('0'+i)), Admission: conf.Validating[i]}.entry(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestDeregister checks that deregister deletes only the object that it read, not one
// that replaced it.
func TestDeregister(t *testing.T) {
	t.Parallel()
	const registered = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
		"metadata":{"name":"` + ConfigurationName + `","uid":"%s","resourceVersion":"%s","labels":{"app.kubernetes.io/managed-by":"%s"}}}`
	var requests []string
	objects := []string{fmt.Sprintf(registered, "a", "1", managedByValue), fmt.Sprintf(registered, "a", "2", managedByValue), fmt.Sprintf(registered, "b", "3", "somebody")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfigurationList","metadata":{},"items":[`+objects[0]+"]}")
			return
		}
		var options metav1.DeleteOptions
		if err := json.NewDecoder(r.Body).Decode(&options); err != nil || options.Preconditions == nil {
			t.Errorf("%s %s without preconditions: %v", r.Method, r.URL.Path, err)
			return
		}
		requests = append(requests, r.Method+" "+string(*options.Preconditions.UID)+" "+*options.Preconditions.ResourceVersion)
		objects = objects[1:]
		conflict := apierrors.NewConflict(schema.GroupResource{Resource: validatingKind.Resource}, ConfigurationName, errors.New("the object was replaced"))
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(conflict.Status())
	}))
	t.Cleanup(server.Close)
	c, err := connect(&rest.Config{Host: server.URL}, "test", "default", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.deregister(t.Context(), validatingKind, ConfigurationName, ""); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"DELETE a 1", "DELETE a 2"}, requests); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
