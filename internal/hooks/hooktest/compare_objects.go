package hooktest

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/internal/hooks/testfile"
)

// objects compares the cluster with the expected and the absent objects.
func (s *session) objects(ctx context.Context, x *Expect, t *activity) {
	var move []func(written map[string]any)
	if w := x.Objects; w != nil {
		all := make([]found, len(w.list()))
		for i, want := range w.list() {
			all[i] = s.object(ctx, w.line(i), i, want.(map[string]any))
			if all[i].isMissing() {
				move = append(move, func(written map[string]any) { add(written, "absent", want, sparse(want)) })
			}
		}
		s.correct(x, "objects", w, all)
	}
	if w := x.Absent; w != nil {
		all := make([]found, len(w.list()))
		for i, want := range w.list() {
			o := &unstructured.Unstructured{Object: want.(map[string]any)}
			existing, exists, err := s.find(ctx, o)
			all[i].fits = !exists
			switch {
			case err != nil:
				s.differs(w.line(i), "absent[%d]: %v", i, err)
			case exists:
				s.differs(w.line(i), "absent[%d]: %s exists", i, testfile.Identity(existing))
				move = append(move, func(written map[string]any) {
					add(written, "objects", want, corrected(want, want, testfile.Normal(existing.Object)))
				})
			}
		}
		s.correct(x, "absent", w, all)
	}
	if len(move) > 0 {
		s.addFix(x, func(written map[string]any) {
			for _, each := range move {
				each(written)
			}
			for _, key := range []string{"objects", "absent"} {
				if list, isList := written[key].([]any); isList && len(list) == 0 {
					unset(key, t)(written)
				}
			}
		})
	}
}

// object finds the i-th expected object.
func (s *session) object(ctx context.Context, line, i int, want map[string]any) found {
	o := &unstructured.Unstructured{Object: want}
	existing, exists, err := s.find(ctx, o)
	switch {
	case err != nil:
		s.differs(line, "objects[%d]: %v", i, err)
		return found{fits: true} // an update cannot correct this
	case exists:
		got := testfile.Normal(existing.Object)
		return found{fits: s.same(line, fmt.Sprintf("objects[%d]", i), want, got), got: got}
	}
	s.differs(line, "objects[%d]: %s does not exist", i, testfile.Identity(o))
	var like []any
	if o.GetName() == "" {
		like = s.others(ctx, o)
	}
	return found{like: like}
}

// find returns the object that an expectation is about.
func (s *session) find(ctx context.Context, o *unstructured.Unstructured) (existing *unstructured.Unstructured, exists bool, err error) {
	return testfile.Find(ctx, s.cluster.User(), o)
}

// others returns the candidates for an expected object without a name.
func (s *session) others(ctx context.Context, o *unstructured.Unstructured) []any {
	list, err := testfile.Listed(ctx, s.cluster.User(), o)
	if err != nil {
		return nil
	}
	var all []any
	for _, other := range list {
		all = append(all, testfile.Normal(other.Object))
	}
	return all
}

// checkIdempotent repeats the last run, which must change nothing. The engine repeats
// each run that fails halfway. Controllers made the changes of kinds that the run does not write.
func (s *session) checkIdempotent(ctx context.Context) {
	if !s.test.Idempotent || s.last == nil || s.lastFailed || len(s.outcome.Failures) > 0 {
		return
	}
	before, err := s.cluster.Objects(ctx)
	values := s.addon.values()
	s.takeRequests()
	if err == nil {
		_, err = s.execute(ctx, *s.last)
	}
	hint := fmt.Sprintf("the last run, repeated with the same contexts (%s)", summary(s.last.Contexts))
	if !s.canContinue(ctx, s.test.Line, hint, err) {
		return
	}
	after, err := s.cluster.Objects(ctx)
	if !s.canContinue(ctx, s.test.Line, hint, err) {
		return
	}
	written := s.takeRequests()
	all := changes(s.ofResources(ctx, before, written), s.ofResources(ctx, after, written))
	for _, change := range append(all, valueChanges(values, s.addon.values())...) {
		s.outcome.fail(s.test.Line, "%s, %s; if this is intended, set idempotent: false", hint, change)
	}
}

// ofResources returns the objects of resources in any group, because several groups can serve an object, and those whose
// resource is unknown.
func (s *session) ofResources(
	ctx context.Context, objects []*unstructured.Unstructured, resources []string,
) (all []*unstructured.Unstructured) {
	for _, o := range objects {
		if k, err := s.cluster.User().Kind(ctx, o.GetAPIVersion(), o.GetKind()); err != nil || slices.Contains(resources, k.Resource) {
			all = append(all, o)
		}
	}
	return all
}

// changes describes the differences between two states of a cluster.
func changes(before, after []*unstructured.Unstructured) []string {
	was, is := index(before), index(after)
	var all []string
	for _, id := range sortedKeys(was) {
		if is[id] == nil {
			all = append(all, "deletes "+id)
			continue
		}
		for _, d := range differences(was[id], is[id]) {
			from, to := d.Texts()
			all = append(all, fmt.Sprintf("changes %s: %s from %s to %s", id, d.Path, from, to))
		}
	}
	for _, id := range sortedKeys(is) {
		if was[id] == nil {
			all = append(all, "creates "+id)
		}
	}
	return all
}

// index maps identities to objects.
func index(objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	all := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		all[testfile.Identity(o)] = o
	}
	return all
}

// differences returns the differences between two states of an object, except for fields that the API server counts up.
func differences(was, is *unstructured.Unstructured) []testfile.Difference {
	if was.GetResourceVersion() == is.GetResourceVersion() {
		return nil
	}
	return testfile.Differences(counted(was), counted(is), "", true)
}

// counted returns the content of an object without the fields that the API server counts up.
func counted(o *unstructured.Unstructured) map[string]any {
	c := o.DeepCopy()
	c.SetResourceVersion("")
	c.SetManagedFields(nil)
	c.SetGeneration(0)
	return c.Object
}
