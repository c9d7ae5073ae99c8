package hooktest

import (
	"errors"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/output"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// activity is what the hook did in one step or in the whole test.
type activity struct {
	runs       int
	exitCode   int
	errors     []string
	reasons    []string // the errors without their context
	output     strings.Builder
	patches    []any
	metrics    []any
	contexts   []binding.Context
	response   map[string]any
	converted  []any
	unexpected []string // failures to report unless the test expects them

	valuesPatches, configPatches []any
	decision                     *engine.EnabledResult // of the enabled script, nil without a result

	touched map[string]*unstructured.Unstructured // objects that the hook created, changed or deleted
}

// record updates the activity of the current step and of the whole test.
func (s *session) record(note func(*activity)) {
	note(&s.step)
	note(&s.whole)
}

// note records an error that the test may expect. Reports show the hook's output
// separately, so the message omits it.
func (s *session) note(err error) {
	reason := err
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner
	}
	text := err.Error()
	s.record(func(t *activity) {
		t.errors, t.reasons = append(t.errors, text), append(t.reasons, reason.Error())
	})
	if failed, is := errors.AsType[*engine.FailedError](err); is && failed.Output != "" {
		text = strings.TrimSuffix(text, ": "+failed.Output)
	}
	s.step.unexpected = append(s.step.unexpected, text)
}

// written returns an operation in the form of the patch file.
func written(op output.Operation) map[string]any {
	all := map[string]any{"operation": op.Operation, "apiVersion": op.APIVersion, "kind": op.Kind, "namespace": op.Namespace, "name": op.Name,
		"subresource": op.Subresource, "object": op.Object, "jqFilter": op.JQFilter, "mergePatch": op.MergePatch, "jsonPatch": op.JSONPatch,
		"ignoreMissingObject": op.IgnoreMissingObject, "ignoreHookError": op.IgnoreHookError}
	return without(all, nil, "", false)
}

// metric returns a metric in the form of the metrics file.
func metric(m output.Metric) map[string]any {
	all := map[string]any{"name": m.Name, "action": m.Action, "value": nil, "labels": nil, "group": m.Group}
	if m.Value != nil {
		all["value"] = *m.Value
	}
	if len(m.Labels) > 0 {
		all["labels"] = m.Labels
	}
	return without(all, nil, "")
}

// without removes the entries that have one of the values.
func without(all map[string]any, values ...any) map[string]any {
	for k, v := range all {
		switch v.(type) {
		case map[string]any, []any, map[string]string:
			continue
		}
		if slices.Contains(values, v) {
			delete(all, k)
		}
	}
	return all
}
