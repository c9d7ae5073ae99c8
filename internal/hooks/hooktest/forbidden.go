package hooktest

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// checkRefused adds a failure for each request of the hook that the API server refused. Expected ones count, too,
// because a hook cannot expect to lack permissions.
func (s *session) checkRefused() {
	for _, hook := range slices.Sorted(maps.Keys(s.outcome.Requests)) {
		for _, r := range s.outcome.Requests[hook].Refused {
			s.outcome.fail(s.test.Line, "no RBAC rule allows %s to %s; %s", s.hookName(hook), r, s.howToAllow(r))
		}
	}
}

// hookName returns how messages name the hook that sent a request.
func (s *session) hookName(hook string) string {
	if hook == "" || hook == s.hook.Name {
		return "the hook"
	}
	return hook
}

// howToAllow returns what allows a request of a hook.
func (s *session) howToAllow(r rbac.Request) string {
	if s.addon != nil {
		return "add a rule to " + rbac.Path
	}
	return "declare it with a marker in the hook: " + r.Marker()
}

// takeRequests adds the requests since the last call to the outcome, and returns the resources that some of them write.
func (s *session) takeRequests() (written []string) {
	if s.outcome.Requests == nil {
		s.outcome.Requests = map[string]rbac.Requests{}
	}
	for hook, now := range s.cluster.Requests() {
		all := s.outcome.Requests[hook]
		s.outcome.Requests[hook] = rbac.Requests{Allowed: union(all.Allowed, now.Allowed), Refused: union(all.Refused, now.Refused)}
		for _, r := range slices.Concat(now.Allowed, now.Refused) {
			if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
				written = append(written, r.Resource)
			}
		}
	}
	return written
}

func union(all, now []rbac.Request) []rbac.Request {
	for _, r := range now {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}
