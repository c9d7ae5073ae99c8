package hooktest

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// checkIdempotent repeats the last run, which must change nothing. The engine repeats
// each run that fails halfway.
func (s *session) checkIdempotent(ctx context.Context) {
	if !s.test.Idempotent || s.last == nil || s.lastFailed || len(s.outcome.Failures) > 0 {
		return
	}
	before, err := s.cluster.Objects(ctx)
	values := s.addon.values()
	if err == nil {
		_, err = s.executor.Execute(ctx, *s.last)
	}
	hint := fmt.Sprintf("the last run, repeated with the same contexts (%s)", summary(s.last.Contexts))
	if !s.canContinue(ctx, s.test.Line, hint, err) {
		return
	}
	after, err := s.cluster.Objects(ctx)
	if !s.canContinue(ctx, s.test.Line, hint, err) {
		return
	}
	for _, change := range append(changes(before, after), valueChanges(values, s.addon.values())...) {
		s.outcome.fail(s.test.Line, "%s, %s; if this is intended, set idempotent: false", hint, change)
	}
}

// changes describes the differences between two states of a cluster.
func changes(before, after []*unstructured.Unstructured) []string {
	was, is := index(before), index(after)
	var all []string
	for _, id := range sortedKeys(was) {
		switch {
		case is[id] == nil:
			all = append(all, "deletes "+id)
		case !reflect.DeepEqual(was[id], is[id]):
			for _, d := range differences(was[id], is[id], "", true) {
				from, to := d.texts()
				all = append(all, fmt.Sprintf("changes %s: %s from %s to %s", id, d.path, from, to))
			}
		}
	}
	for _, id := range sortedKeys(is) {
		if was[id] == nil {
			all = append(all, "creates "+id)
		}
	}
	return all
}

// index maps object identities to contents, without fields that the API server counts up.
func index(objects []*unstructured.Unstructured) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, o := range objects {
		c := o.DeepCopy()
		c.SetResourceVersion("")
		c.SetManagedFields(nil)
		c.SetGeneration(0)
		all[identity(o)] = c.Object
	}
	return all
}

// identity returns the identity of an object, such as v1 Secret default/mysecret.
func identity(o *unstructured.Unstructured) string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return o.GetAPIVersion() + " " + o.GetKind() + " " + name
}
