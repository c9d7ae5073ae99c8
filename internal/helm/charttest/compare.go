package charttest

import (
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/testfile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// expectsError reports whether an expectation, which may be nil, is about an error.
func (x *Expect) expectsError() bool { return x != nil && x.Error != "" }

// findError compares an expected error with those that happened.
func (s *session) findError(x *Expect, errors []string) {
	if slices.ContainsFunc(errors, func(text string) bool { return strings.Contains(text, x.Error) }) {
		return
	}
	got := "no release failed"
	if len(errors) > 0 {
		got = "got: " + strings.Join(errors, " | ")
	}
	s.outcome.fail(x.Line, "error: want %q, %s", x.Error, got)
}

// compare compares the cluster with an expectation, which may be nil.
func (s *session) compare(ctx context.Context, x *Expect) {
	if x == nil {
		return
	}
	for i, want := range x.Objects {
		existing, exists, err := s.find(ctx, want.Object)
		switch {
		case err != nil:
			s.outcome.fail(want.Line, "objects[%d]: %v", i, err)
		case !exists:
			s.outcome.fail(want.Line, "objects[%d]: %s does not exist%s", i, testfile.Identity(want.Object), s.others(ctx, want.Object))
		default:
			var texts []string
			for _, d := range testfile.Differences(testfile.Normal(want.Object.Object), testfile.Normal(existing.Object), "", false) {
				texts = append(texts, d.String())
			}
			if len(texts) > 0 {
				s.outcome.fail(want.Line, "objects[%d]: %s", i, strings.Join(texts, "\n"))
			}
		}
	}
	for i, want := range x.Absent {
		existing, exists, err := s.find(ctx, want.Object)
		switch {
		case err != nil:
			s.outcome.fail(want.Line, "absent[%d]: %v", i, err)
		case exists:
			s.outcome.fail(want.Line, "absent[%d]: %s exists", i, testfile.Identity(existing))
		}
	}
}

// find finds the object that an expectation is about. An object that is being deleted does not exist: on
// an API server without controllers, nothing removes finalizers, such as the finalizers of volumes.
func (s *session) find(ctx context.Context, want *unstructured.Unstructured) (existing *unstructured.Unstructured, exists bool, err error) {
	k, err := s.cluster.User().Kind(ctx, want.GetAPIVersion(), want.GetKind())
	if err != nil {
		return nil, false, err
	}
	if want.GetName() != "" {
		s.setNamespace(want, k.Namespaced)
	}
	existing, exists, err = testfile.Find(ctx, s.cluster.User(), want)
	return existing, exists && existing.GetDeletionTimestamp() == nil, err
}

// others names the objects of the kind of one that does not exist.
func (s *session) others(ctx context.Context, want *unstructured.Unstructured) string {
	list, err := testfile.Listed(ctx, s.cluster.User(), want)
	if err != nil || len(list) == 0 {
		return ""
	}
	var names []string
	for _, o := range list {
		names = append(names, o.GetName())
	}
	return "; got: " + strings.Join(names, ", ")
}
