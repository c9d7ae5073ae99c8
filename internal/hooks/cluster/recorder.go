package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/input"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Recorder records the requests of a client, in the words of RBAC rules.
type Recorder struct {
	// Administrator sends a request again that the API server refused, or is nil.
	Administrator http.RoundTripper

	path string // of the API server's URL
	mu   sync.Mutex
	all  rbac.Requests
}

// NewRecorder returns a recorder for a client of c's API server.
func (c *Cluster) NewRecorder() (*Recorder, error) {
	server, err := url.Parse(c.Server)
	if err != nil {
		return nil, err
	}
	return &Recorder{path: strings.TrimSuffix(server.Path, "/")}, nil
}

// Wrap returns a transport that records requests. It is below the one that adds the token.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return recorded{recorder: r, next: next}
}

// Take returns the recorded requests, and forgets them.
func (r *Recorder) Take() rbac.Requests {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = rbac.Requests{}
	return all
}

// recorded is a transport whose requests are recorded.
type recorded struct {
	recorder *Recorder
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t recorded) RoundTrip(sent *http.Request) (*http.Response, error) {
	r := t.recorder
	what := r.describe(sent)
	body, err := readBody(sent)
	if err != nil {
		return nil, err
	}
	response, err := t.next.RoundTrip(withBody(sent, body))
	if err != nil {
		return nil, err
	}
	refusal, err := refusalIn(response)
	if err != nil {
		return nil, err
	}
	switch refusal {
	case notRefused:
		r.Allowed(what, body)
		return response, nil
	case grants:
		what = grantOf(what, body)
	}
	r.record(&r.all.Refused, what)
	if r.Administrator == nil {
		return response, nil
	}
	again := withBody(sent, body)
	again.Header.Del("Authorization")
	return r.Administrator.RoundTrip(again)
}

// Allowed records a request that the API server allowed, and the grant of a role that it may have needed.
func (r *Recorder) Allowed(what rbac.Request, body []byte) {
	r.record(&r.all.Allowed, what)
	if what.MayGrant() {
		r.record(&r.all.Allowed, grantOf(what, body))
	}
}

// record adds a request to a list of r.
func (r *Recorder) record(list *[]rbac.Request, what rbac.Request) {
	if everybodyMay(what) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(*list, what) {
		*list = append(*list, what)
	}
}

// everybodyMay reports whether every user may send a request: ask what they may do, as the tests do, and discover the API. The API
// server has ClusterRoles for these requests, such as system:discovery.
func everybodyMay(what rbac.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(what.URL, "/"), "/")
	return strings.HasPrefix(what.Resource, "selfsubject") ||
		what.Verb == "get" && slices.Contains([]string{"api", "apis", "healthz", "livez", "openapi", "readyz", "version"}, first)
}

var resolver = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// describe returns what a permission must allow, as the API server reads it from a request.
func (r *Recorder) describe(sent *http.Request) rbac.Request {
	seen := *sent
	seen.URL = &url.URL{Path: strings.TrimPrefix(sent.URL.Path, r.path), RawQuery: sent.URL.RawQuery}
	info, err := resolver.NewRequestInfo(&seen)
	if err != nil || !info.IsResourceRequest {
		return rbac.Request{Verb: strings.ToLower(sent.Method), URL: seen.URL.Path}
	}
	return rbac.Request{
		Verb: info.Verb, Group: info.APIGroup, Resource: info.Resource, Subresource: info.Subresource,
		Namespace: info.Namespace, Name: info.Name,
	}
}

// readBody reads the body of a request, which may be sent twice.
func readBody(sent *http.Request) ([]byte, error) {
	if sent.Body == nil {
		return nil, nil
	}
	defer func() { _ = sent.Body.Close() }()
	return input.ReadAll(sent.Body, input.Data)
}

func withBody(sent *http.Request, body []byte) *http.Request {
	next := sent.Clone(sent.Context())
	next.Body = http.NoBody
	if len(body) > 0 {
		next.Body = io.NopCloser(bytes.NewReader(body))
	}
	return next
}

// refusal is why the API server refused a request.
type refusal int

const (
	notRefused refusal = iota // for lack of permissions
	noRule                    // no rule allows it
	grants                    // it grants permissions that the account does not have
)

// refusalIn reads the body of a response to a forbidden request. Other things than permissions can forbid it, such as the
// deletion of a namespace.
func refusalIn(response *http.Response) (refusal, error) {
	if response.StatusCode != http.StatusForbidden {
		return notRefused, nil
	}
	body, err := input.ReadAll(response.Body, input.Data)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return notRefused, err
	}
	text := string(body)
	switch {
	case strings.Contains(text, "is attempting to grant RBAC permissions not currently held"):
		return grants, nil
	case strings.Contains(text, "forbidden: User ") && strings.Contains(text, " cannot "):
		return noRule, nil
	}
	return notRefused, nil
}

// grantOf returns what allows an account to send a request that grants permissions: the verb bind on the role of a
// binding, or escalate on a role.
func grantOf(what rbac.Request, body []byte) rbac.Request {
	if !strings.HasSuffix(what.Resource, "bindings") {
		what.Verb = rbac.Escalate
		return what
	}
	role := roleIn(body)
	return rbac.NewGrant(strings.ToLower(cmp.Or(role.Kind, "ClusterRole"))+"s", what.Namespace, role.Name)
}

// roleIn returns the role that a binding refers to, as JSON or in the binary form of some commands of kubectl. It is empty if
// the body, such as a patch, does not name it.
func roleIn(body []byte) rbacv1.RoleRef {
	var binding rbacv1.RoleBinding // the fields of a ClusterRoleBinding are the same
	content, binary := bytes.CutPrefix(body, []byte("k8s\x00"))
	var envelope runtime.Unknown
	if binary && envelope.Unmarshal(content) == nil {
		_ = binding.Unmarshal(envelope.Raw)
	} else {
		_ = json.Unmarshal(body, &binding)
	}
	return binding.RoleRef
}
