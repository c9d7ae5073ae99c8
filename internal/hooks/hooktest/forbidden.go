package hooktest

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// refusal is the message of an API server about a request that no RBAC rule allows. kubectl prints it, too.
var refusal = lazyregexp.New(`(?:"([^"\s]+)" )?is forbidden: User "[^"]*" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// checkRefused adds a failure for each request of the hook that the API server refused. Expected ones count, too,
// because a hook cannot expect to lack permissions.
func (s *session) checkRefused() {
	var requests []rbac.Request
	for _, m := range refusal().FindAllStringSubmatch(s.whole.output.String()+"\n"+strings.Join(s.whole.errors, "\n"), -1) {
		resource, subresource, _ := strings.Cut(m[3], "/")
		r := rbac.Request{Verb: m[2], Group: m[4], Resource: resource, Subresource: subresource, Namespace: m[5], Name: m[1]}
		if !slices.Contains(requests, r) {
			requests = append(requests, r)
		}
	}
	for _, r := range requests {
		s.outcome.fail(s.test.Line, "no RBAC rule allows the hook to %s; declare it with a marker in the hook: %s", r, r.Marker())
	}
}
