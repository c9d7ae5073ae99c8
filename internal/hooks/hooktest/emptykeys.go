package hooktest

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// telling are the keys that an expectation without any gets, where there is
// something to tell: what came of it, rather than how.
var defaultKeys = []string{"runs", "exitCode", "error", "objects", "absent", "metrics", "response", "converted", "valuesPatches", "configValuesPatches"}

// blanks finds expectations without a value: nothing is as expected then, and what is
// the case is known to be their value.
func (s *session) fillEmptyKeys(ctx context.Context, x *Expect, t *activity) {
	for _, b := range x.EmptyKeys {
		keys, name := []string{b.key}, b.key
		if b.key == "" {
			if keys, name = defaultKeys, "expect"; s.test.File.Module != "" {
				keys = []string{"rendered"}
			}
		}
		s.differs(b.line, "%s: there is no value; operon hooks test --update fills it in", name)
		for _, key := range keys {
			value, there, err := s.actual(ctx, key, t)
			switch {
			case err != nil:
				s.differs(b.line, "%s: %v", key, err)
			case !there && b.key != "":
				s.amend(x, unset(key, t))
			case there && (b.key != "" || key == "runs" || isInformative(value)):
				s.amend(x, set(key, value))
			}
		}
	}
}

// tells reports whether a value is no list without items, and no success.
func isInformative(value any) bool {
	if list, isList := value.([]any); isList {
		return len(list) > 0
	}
	return value != 0
}

// actual is what is the case, if there is something of the kind.
func (s *session) actual(ctx context.Context, key string, t *activity) (value any, there bool, err error) {
	switch key {
	case "runs":
		return t.runs, true, nil
	case "exitCode":
		return t.exitCode, t.runs > 0, nil
	case "error":
		return s.anywhere(last(t.reasons)), len(t.reasons) > 0, nil
	case "output":
		return asList(normal(s.said(t))), true, nil
	case "response":
		return normal(t.response), t.response != nil, nil
	case "objects", "absent":
		objects, err := s.changed(ctx, key == "objects", t)
		return objects, true, err
	case "values", "configValues", "rendered":
		return s.actualValue(key)
	case "enabled", "reason":
		if t.decision == nil {
			return nil, false, nil
		}
		return map[string]any{"enabled": t.decision.On, "reason": t.decision.Reason}[key], true, nil
	}
	return asList(normal(map[string]any{"patches": t.patches, "metrics": t.metrics, "contexts": t.contexts, "converted": t.converted,
		"valuesPatches": t.valuesPatches, "configValuesPatches": t.configPatches}[key])), true, nil
}

// actualValue is actual for what only addon-operator has.
func (s *session) actualValue(key string) (value any, there bool, err error) {
	switch key {
	case "values":
		return normal(s.addon.store.Values()), true, nil
	case "configValues":
		return normal(s.addon.store.Config()), true, nil
	}
	objects, err := s.addon.rendered()
	all := []any{}
	for _, o := range objects {
		all = append(all, normal(o.Object))
	}
	return all, true, err
}

func asList(v any) []any {
	if list, isList := v.([]any); isList {
		return list
	}
	return []any{}
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// follows reports whether a test asks what the hook does to objects, without naming
// any.
func (t *Test) follows() bool {
	asks := func(x *Expect) bool { return x != nil && x.has("", "objects", "absent") }
	return asks(t.Expect) || slices.ContainsFunc(t.Events, func(e Event) bool { return asks(e.Expect) })
}

// look remembers the objects that there are, to tell what the hook does to them.
func (s *session) look(ctx context.Context) error {
	if !s.follow {
		return nil
	}
	objects, err := s.cluster.Objects(ctx)
	s.before = index(objects)
	return err
}

// touch notes the objects that are not as they were at the last look.
func (s *session) touch(ctx context.Context) error {
	if !s.follow {
		return nil
	}
	objects, err := s.cluster.Objects(ctx)
	if err != nil {
		return err
	}
	after := index(objects)
	for id, o := range after {
		if len(differences(s.before[id], o, "", true)) > 0 {
			s.touched(id, o)
		}
	}
	for id, o := range s.before {
		if after[id] == nil {
			s.touched(id, o)
		}
	}
	return nil
}

func (s *session) touched(id string, o map[string]any) {
	s.both(func(t *activity) {
		if t.touched == nil {
			t.touched = map[string]*unstructured.Unstructured{}
		}
		t.touched[id] = &unstructured.Unstructured{Object: o}
	})
}

// changed are the objects that the hook made or changed; or, when they are not to be
// there, the names of those that it deleted.
func (s *session) changed(ctx context.Context, there bool, t *activity) ([]any, error) {
	objects, err := s.cluster.Objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the cluster: %w", err)
	}
	all, is := []any{}, index(objects)
	for _, id := range sortedKeys(t.touched) {
		switch o := is[id]; {
		case o != nil && there:
			all = append(all, normal(o))
		case o == nil && !there:
			all = append(all, sparse(t.touched[id].Object))
		}
	}
	return all, nil
}
