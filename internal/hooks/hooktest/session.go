package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/hooks/patch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxRuns is the maximum number of runs for one event. A hook that runs more often
// triggers itself.
const maxRuns = 50

// session is the state of a running test.
type session struct {
	test     *Test
	hook     engine.Hook
	cluster  Cluster
	state    *engine.State
	executor engine.Executor
	addon    *addon // nil for shell-operator

	whole, step activity
	failed      map[string]bool // queues whose task failed and waits for a retry
	last        *engine.Task
	lastFailed  bool
	outcome     *Outcome

	folders       []string                  // machine-specific folders, which must not appear in updated tests
	tracksChanges bool                      // record the objects that the hook changes
	before        map[string]map[string]any // the objects before the hook ran
}

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

// loopError means that the hook keeps triggering itself.
type loopError struct{ contexts []binding.Context }

func (e *loopError) Error() string {
	return fmt.Sprintf("the hook keeps triggering itself: it ran %d times, the last time with %s", maxRuns, summary(e.contexts))
}

// summary describes binding contexts briefly.
func summary(contexts []binding.Context) string {
	var all []string
	for _, c := range contexts {
		words := []string{fmt.Sprint(c["binding"])}
		for _, key := range []string{"type", "watchEvent"} {
			if v, there := c[key]; there && v != "Event" {
				words = append(words, fmt.Sprint(v))
			}
		}
		if o, isObject := c["object"].(*unstructured.Unstructured); isObject {
			words = append(words, identity(o))
		}
		all = append(all, strings.Join(words, " "))
	}
	if len(all) > 3 {
		all = append(all[:3], fmt.Sprintf("%d more", len(all)-3))
	}
	return strings.Join(all, ", ")
}

// start does the start-up work of the engine.
func (s *session) start(ctx context.Context) error {
	s.state.Start()
	if err := s.snapshotObjects(ctx); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.recordChanges(ctx)
}

// settle runs tasks until none is left, except in queues with a failed task.
func (s *session) settle(ctx context.Context) error {
	for {
		if err := s.observe(ctx); err != nil {
			return err
		}
		worked := false
		for _, queue := range s.state.Queues() {
			if s.failed[queue] {
				continue
			}
			t, due := s.state.Take(queue)
			if !due {
				continue
			}
			worked = true
			if err := s.runTask(ctx, t); err != nil {
				return err
			}
			break // observe the changes before the next task
		}
		if !worked {
			return nil
		}
	}
}

func (s *session) observe(ctx context.Context) error {
	observed, err := s.cluster.Observed(ctx)
	if err != nil {
		return err
	}
	for _, o := range observed {
		if err := o.Apply(s.state); err != nil {
			s.note(err)
		}
	}
	return nil
}

func (s *session) runTask(ctx context.Context, t engine.Task) error {
	var failure error
	switch t.Kind {
	case engine.Breaks:
		failure = engine.ErrBreaks
		s.note(failure)
	case engine.Enable:
		for _, b := range t.Bindings {
			objects, err := s.cluster.Bind(ctx, b, t.Hook.Config.Kubernetes[b.Place])
			if err == nil {
				err = s.state.BindingListed(b, objects)
			}
			if failure = err; err != nil {
				s.note(fmt.Errorf("the engine cannot enable the bindings: %w", err))
				break
			}
		}
	case engine.Run:
		if s.step.runs >= maxRuns {
			return &loopError{t.Contexts}
		}
		_, failure = s.run(ctx, t)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.state.Finish(t, failure)
	if failure != nil && !t.AllowFailure {
		s.failed[t.Queue] = true
	}
	return nil
}

// run runs the hook and records the activity.
func (s *session) run(ctx context.Context, t engine.Task) (engine.Execution, error) {
	done, err := s.executor.Execute(ctx, t)
	s.last, s.lastFailed = &t, err != nil
	for _, m := range done.Warnings {
		if !slices.Contains(s.outcome.Warnings, m) {
			s.outcome.Warnings = append(s.outcome.Warnings, m)
		}
	}
	s.record(func(y *activity) {
		y.runs++
		y.exitCode, y.contexts = done.ExitCode, t.Contexts
		y.output.Write(done.Stdout)
		y.output.Write(done.Stderr)
		for _, op := range done.Operations {
			y.patches = append(y.patches, written(op))
		}
		for _, m := range done.Metrics {
			y.metrics = append(y.metrics, metric(m))
		}
		y.valuesPatches = append(y.valuesPatches, operations(done.ValuesPatch)...)
		y.configPatches = append(y.configPatches, operations(done.ConfigPatch)...)
	})
	if err != nil && ctx.Err() == nil {
		s.note(fmt.Errorf("run %d, with %s: %w", s.whole.runs, summary(t.Contexts), err))
	}
	return done, err
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

// trigger triggers an event and waits until all resulting tasks are done.
func (s *session) trigger(ctx context.Context, e Event) error {
	s.step = activity{}
	clear(s.failed)
	err := s.snapshotObjects(ctx)
	if err != nil {
		return err
	}
	switch e.Type {
	case "apply", "delete", "patch":
		if err = s.change(ctx, e); err == nil {
			err = s.snapshotObjects(ctx) // the change by the test is not one by the hook
		}
	case "schedule":
		err = s.tick(e.Schedule)
	case "validate", "mutate":
		err = s.review(ctx, e)
	case "convert":
		err = s.convert(ctx, e)
	case "retry": // clearing s.failed is enough
	default:
		err = s.runStep(ctx, e.Type)
	}
	if err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.recordChanges(ctx)
}

func (s *session) change(ctx context.Context, e Event) error {
	api, o := s.cluster.User(), e.Object
	kind, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	if kind.Namespaced && o.GetNamespace() == "" {
		return fmt.Errorf("%s %s has no metadata.namespace", o.GetKind(), o.GetName())
	}
	switch e.Type {
	case "delete":
		return api.Delete(ctx, kind, o.GetNamespace(), o.GetName(), "Background")
	case "patch":
		body, err := json.Marshal(o.Object)
		if err != nil {
			return err
		}
		_, err = api.Patch(ctx, kind, o.GetNamespace(), o.GetName(), "application/merge-patch+json", body, "")
		return err
	}
	if err := s.namespace(ctx, o.GetNamespace()); err != nil {
		return err
	}
	user := patch.Applier{API: api, Wait: s.cluster.Wait}
	return errors.Unwrap(unjoined(user.Apply(ctx, []output.Operation{{Operation: "CreateOrUpdate", Object: o.Object}})))
}

// namespace creates the namespace of an object unless it exists.
func (s *session) namespace(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	api := s.cluster.User()
	kind, err := api.Kind(ctx, "v1", "Namespace")
	if err != nil {
		return err
	}
	_, err = api.Create(ctx, kind, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// unjoined returns the only error of a joined error with one element.
func unjoined(err error) error {
	if list, joined := err.(interface{ Unwrap() []error }); joined && len(list.Unwrap()) == 1 {
		return list.Unwrap()[0]
	}
	return err
}

func (s *session) tick(name string) error {
	var names []string
	for _, b := range s.hook.Config.Schedule {
		if b.BindingName() == name {
			if !s.state.Tick(b.Crontab) {
				return errors.New("the engine has not enabled the schedules: a failing task blocks the queue main")
			}
			return nil
		}
		names = append(names, b.BindingName())
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no schedules", s.hook.Name)
	}
	return fmt.Errorf("%s has no schedule %q, but %s", s.hook.Name, name, strings.Join(names, ", "))
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
