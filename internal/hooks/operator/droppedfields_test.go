//go:build testall

package operator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
)

// serving returns a client of a server that serves one CRD, or none if crd is empty.
func serving(t *testing.T, crd string) *cluster.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if crd == "" || r.URL.Path != "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tabs.example.org" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(crd))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{"clusters": [{"name": "x", "cluster": {"server": %q}}], "contexts": [{"name": "x", "context": {"cluster": "x"}}], "current-context": "x"}`, server.URL)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(cluster.ClientOptions{Kubeconfig: path}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReportDroppedFields checks that each field that a conversion drops is reported once.
func TestReportDroppedFields(t *testing.T) {
	t.Parallel()
	const answer = `jq --arg v "$(jq -r '.[0].toVersion' $BINDING_CONTEXT_PATH)" '{convertedObjects: [.[0].review.request.objects[] | .apiVersion = $v]}' $BINDING_CONTEXT_PATH >$CONVERSION_RESPONSE_PATH`
	const rule = "kubernetesCustomResourceConversion: [{name: up, crdName: tabs.example.org, conversions: [{fromVersion: example.org/%s, toVersion: example.org/%s}]}]"
	up, on := newHook(t, "up.sh", fmt.Sprintf(rule, "v1", "v2"), answer), newHook(t, "on.sh", fmt.Sprintf(rule, "v2", "v3"), answer)
	var reported reports
	o := reported.operator()
	o.Cluster = serving(t, `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tabs.example.org"}, "spec": {"versions": [
		{"name": "v2", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}},
		{"name": "v3", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties":
			{"kept": {"type": "string"}, "list": {"type": "array", "items": {"type": "object"}}}}}}}}]}}`)
	o.begin(t.Context(), []engine.Hook{up, on})
	convert := func(to, spec string) {
		review := fmt.Sprintf(`{"desiredAPIVersion": "example.org/%s", "objects": [{"apiVersion": "example.org/v1", "kind": "Tab", "metadata": {"name": "x"}, "spec": %s}]}`, to, spec)
		if _, err := o.convert(t.Context(), "tabs.example.org", []byte(review)); err != nil {
			t.Fatal(err)
		}
		for _, h := range o.hooks {
			h.running.Wait()
		}
	}
	expect := func(want ...string) {
		t.Helper()
		reported.mu.Lock()
		defer reported.mu.Unlock()
		if diff := cmp.Diff(want, slices.Clone(reported.warnings)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		reported.warnings = nil
	}
	convert("v3", `{"kept": "a", "list": [{"a": 1}, {"a": 2}], "old": 1}`)
	expect("on.sh: example.org/v3 has no field spec.list[].a, so the API server drops it", "on.sh: example.org/v3 has no field spec.old, so the API server drops it")
	convert("v3", `{"old": 2, "other": 1}`)
	expect("on.sh: example.org/v3 has no field spec.other, so the API server drops it")
	convert("v2", `{"old": 2}`)
	expect("up.sh: example.org/v2 has no field spec.old, so the API server drops it")
	convert("v2", `{"old": 2}`)
	expect()
	o.Cluster = serving(t, "")
	convert("v2", `{"old": 2}`)
	convert("v2", `{"old": 2}`)
	reported.mu.Lock()
	defer reported.mu.Unlock()
	if len(reported.warnings) != 1 {
		t.Errorf("without the CRD: got %q, want one warning", reported.warnings)
	}
}
