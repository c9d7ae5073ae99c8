package hooktest

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/internal/hooks/testfile"
)

// defaultKeys are the keys that --update writes into an empty expectation if they are
// informative. They describe results, not how the hook works.
var defaultKeys = []string{
	"runs", "exitCode", "error", "objects", "absent", "metrics", "response", "converted", "valuesPatches", "configValuesPatches",
}

// fillEmptyKeys reports keys without a value, and records the actual results as their
// corrections.
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
			value, found, err := s.actual(ctx, key, t)
			switch {
			case err != nil:
				s.differs(b.line, "%s: %v", key, err)
			case !found && b.key != "":
				s.addFix(x, unset(key, t))
			case found && (b.key != "" || key == "runs" || isInformative(value)):
				s.addFix(x, set(key, value))
			}
		}
	}
}

// isInformative reports whether a value is neither an empty list nor zero.
func isInformative(value any) bool {
	if list, isList := value.([]any); isList {
		return len(list) > 0
	}
	return value != 0
}

// actual returns the actual result for a key. found is false if there is none.
func (s *session) actual(ctx context.Context, key string, t *activity) (value any, found bool, err error) {
	switch key {
	case "runs":
		return t.runs, true, nil
	case "exitCode":
		return t.exitCode, t.runs > 0, nil
	case "error":
		return s.portablePart(last(t.reasons)), len(t.reasons) > 0, nil
	case "output":
		return asList(testfile.Normal(s.outputLines(t))), true, nil
	case "response":
		return testfile.Normal(t.response), t.response != nil, nil
	case "objects", "absent":
		objects, err := s.changed(ctx, key == "objects", t)
		return objects, true, err
	case "values", "configValues", "rendered":
		return s.actualValue(key)
	case "enabled", "reason":
		if t.decision == nil {
			return nil, false, nil
		}
		return map[string]any{"enabled": t.decision.Enabled, "reason": t.decision.Reason}[key], true, nil
	}
	return asList(testfile.Normal(map[string]any{"patches": t.patches, "metrics": t.metrics, "contexts": t.contexts, "converted": t.converted,
		"valuesPatches": t.valuesPatches, "configValuesPatches": t.configPatches}[key])), true, nil
}

// actualValue is like actual, for keys that only addon-operator has.
func (s *session) actualValue(key string) (value any, found bool, err error) {
	switch key {
	case "values":
		return testfile.Normal(s.addon.store.Values()), true, nil
	case "configValues":
		return testfile.Normal(s.addon.store.Config()), true, nil
	}
	objects, err := s.addon.rendered()
	all := []any{}
	for _, o := range objects {
		all = append(all, testfile.Normal(counted(o)))
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

// needsChangedObjects reports whether a test has empty expectations that --update fills
// with the objects that the hook changes.
func (t *Test) needsChangedObjects() bool {
	hasKeys := func(x *Expect) bool { return x != nil && x.has("", "objects", "absent") }
	return hasKeys(t.Expect) || slices.ContainsFunc(t.Events, func(e Event) bool { return hasKeys(e.Expect) })
}

// snapshotObjects stores the current objects, for a later recordChanges.
func (s *session) snapshotObjects(ctx context.Context) error {
	if !s.tracksChanges {
		return nil
	}
	objects, err := s.cluster.Objects(ctx)
	s.before = index(objects)
	return err
}

// recordChanges records the objects that differ from the last snapshot.
func (s *session) recordChanges(ctx context.Context) error {
	if !s.tracksChanges {
		return nil
	}
	objects, err := s.cluster.Objects(ctx)
	if err != nil {
		return err
	}
	after := index(objects)
	for id, o := range after {
		if before := s.before[id]; before == nil || len(differences(before, o)) > 0 {
			s.recordChange(id, o)
		}
	}
	for id, o := range s.before {
		if after[id] == nil {
			s.recordChange(id, o)
		}
	}
	return nil
}

func (s *session) recordChange(id string, o *unstructured.Unstructured) {
	s.record(func(t *activity) {
		if t.touched == nil {
			t.touched = map[string]*unstructured.Unstructured{}
		}
		t.touched[id] = o
	})
}

// changed returns the objects that the hook created or changed and that exist. If exist is
// false, it returns the identities of the objects that the hook deleted.
func (s *session) changed(ctx context.Context, exist bool, t *activity) ([]any, error) {
	objects, err := s.cluster.Objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the cluster: %w", err)
	}
	all, is := []any{}, index(objects)
	for _, id := range sortedKeys(t.touched) {
		o := is[id]
		switch {
		case o != nil && exist:
			all = append(all, testfile.Normal(counted(o)))
		case o == nil && !exist:
			all = append(all, sparse(t.touched[id].Object))
		}
	}
	return all, nil
}
