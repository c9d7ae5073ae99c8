package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	forbidden = `{"message":"secrets \"a\" is forbidden: User \"x\" cannot %s resource"}`
	grantsAll = `{"message":"rolebindings \"a\" is forbidden: user \"x\" (groups=[\"y\"]) is attempting to grant RBAC permissions not currently held"}`
)

// server answers requests of an account as a test says, and requests of the administrator with 200.
func server(t *testing.T, answer string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Header.Get("Authorization") != "" && answer != "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, answer)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s
}

// send sends a request through a recorder, and returns the response and what it recorded.
func send(t *testing.T, answer string, record bool, method, path, body string) (string, rbac.Requests) {
	t.Helper()
	all := &Recorder{path: "/prefix"}
	if record {
		all.Administrator = http.DefaultTransport
	}
	request, err := http.NewRequest(method, server(t, answer).URL+"/prefix"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer x")
	response, err := all.Wrap(http.DefaultTransport).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", response.StatusCode, content), all.Take()
}

// TestRecorder records requests in the words of RBAC rules.
func TestRecorder(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"GET /api/v1/namespaces/web/secrets/a":                        `get secrets "a" in namespace web`,
		"GET /api/v1/secrets?watch=1&fieldSelector=metadata.name%3Da": `watch secrets "a"`,
		"PATCH /apis/apps/v1/namespaces/web/deployments/a/status":     `patch deployments.apps/status "a" in namespace web`,
		"DELETE /apis/apps/v1/namespaces/web/deployments":             "deletecollection deployments.apps in namespace web",
		"GET /metrics":             "get /metrics",
		"GET /apis/apps/v1":        "",
		"GET /openapi/v3?hash=a":   "",
		"POST /api":                "post /api",
		"GET /apis-of-others/pods": "get /apis-of-others/pods",
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":         "",
		"POST /apis/rbac.authorization.k8s.io/v1/namespaces/web/rolebindings": `create rolebindings.rbac.authorization.k8s.io in namespace web, bind clusterroles.rbac.authorization.k8s.io "..." in namespace web`,
	} {
		method, path, _ := strings.Cut(path, " ")
		answer, got := send(t, "", false, method, path, "{}")
		var all []string
		for _, r := range got.Allowed {
			all = append(all, r.String())
		}
		if answer != "200 {}" || strings.Join(all, ", ") != want || len(got.Refused) > 0 {
			t.Errorf("%s: %s, %q, want %s", path, answer, all, want)
		}
	}
}

// TestRefused records a request that no rule allows, and sends it again as the administrator if the user wants to know all.
func TestRefused(t *testing.T) {
	t.Parallel()
	binding := rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "view"}}
	asJSON, err := json.Marshal(binding)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := binding.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const bindings, roles = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	for name, tc := range map[string]struct {
		answer, path, body string
		refused            []rbac.Request
	}{
		"no rule":          {fmt.Sprintf(forbidden, "create"), "/api/v1/namespaces/web/secrets", "{}", []rbac.Request{{Verb: "create", Resource: "secrets", Namespace: "web"}}},
		"another reason":   {`{"message":"secrets \"a\" is forbidden: exceeded quota"}`, "/api/v1/namespaces/web/secrets", "{}", nil},
		"a binding":        {grantsAll, bindings, string(asJSON), []rbac.Request{rbac.NewGrant("clusterroles", "", "view")}},
		"a binary binding": {grantsAll, bindings, "k8s\x00" + string(envelope), []rbac.Request{rbac.NewGrant("clusterroles", "", "view")}},
		"a role":           {grantsAll, roles, "{}", []rbac.Request{{Verb: rbac.Escalate, Group: rbacv1.GroupName, Resource: "clusterroles"}}},
	} {
		for _, record := range []bool{false, true} {
			answer, got := send(t, tc.answer, record, http.MethodPost, tc.path, tc.body)
			if diff := cmp.Diff(tc.refused, got.Refused); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			want := "403 " + tc.answer
			if record && len(tc.refused) > 0 {
				want = "200 " + tc.body
			}
			if answer != want {
				t.Errorf("%s: %q, want %q", name, answer, want)
			}
		}
	}
}
