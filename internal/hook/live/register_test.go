package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hook/config"
)

// TestEntry registers webhooks as the engine does: with its defaults, and all that a
// hook says.
func TestEntry(t *testing.T) {
	t.Parallel()
	conf, findings := config.Parse([]byte(`configVersion: v1
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
