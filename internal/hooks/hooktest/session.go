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

// maxRuns is how often a hook may run for one event: one that runs more often
// reacts to what it does itself.
const maxRuns = 50

// session is a test at work.
type session struct {
	test     *Test
	hook     engine.Hook
	cluster  Cluster
	state    *engine.State
	executor engine.Executor
	addon    *addon // nil for shell-operator

	whole, step activity
	failed      map[string]bool // queues that wait for their next try
	last        *engine.Task
	lastFailed  bool
	outcome     *Outcome

	folders []string                  // of this machine, which what is written into tests must not name
	follow  bool                      // what the hook does to objects is noted
	before  map[string]map[string]any // objects before the hook had its turn
}

// tally is what the hook did in a span of time.
type activity struct {
	runs       int
	exitCode   int
	errors     []string
	reasons    []string // the errors, without what was going on
	output     strings.Builder
	patches    []any
	metrics    []any
	contexts   []binding.Context
	response   map[string]any
	converted  []any
	unexpected []string // failures of runs

	valuesPatches, configPatches []any
	decision                     *engine.EnabledResult // of the script enabled, nil when it made none

	touched map[string]*unstructured.Unstructured // what the hook made, changed or deleted
}

// both are the tallies of the event and of the test.
func (s *session) both(note func(*activity)) {
	note(&s.step)
	note(&s.whole)
}

// restlessError says that a hook runs without end.
type loopError struct{ contexts []binding.Context }

func (e *loopError) Error() string {
	return fmt.Sprintf("the hook keeps triggering itself: it ran %d times, the last time with %s", maxRuns, summary(e.contexts))
}

// summary names contexts in few words.
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

// start does what the engine does at its start.
func (s *session) start(ctx context.Context) error {
	s.state.Start()
	if err := s.look(ctx); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.touch(ctx)
}

// settle works until nothing is left to do, but for what failed.
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
			if err := s.work(ctx, t); err != nil {
				return err
			}
			break // for what it changed comes before what is next
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

func (s *session) work(ctx context.Context, t engine.Task) error {
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

// run runs the hook and counts what it did.
func (s *session) run(ctx context.Context, t engine.Task) (engine.Execution, error) {
	done, err := s.executor.Execute(ctx, t)
	s.last, s.lastFailed = &t, err != nil
	for _, m := range done.Warnings {
		if !slices.Contains(s.outcome.Warnings, m) {
			s.outcome.Warnings = append(s.outcome.Warnings, m)
		}
	}
	s.both(func(y *activity) {
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

// note counts an error that a test may expect. Where it is reported the output of the
// hook stands beside, and so is not repeated.
func (s *session) note(err error) {
	reason := err
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner
	}
	text := err.Error()
	s.both(func(t *activity) {
		t.errors, t.reasons = append(t.errors, text), append(t.reasons, reason.Error())
	})
	if failed, is := errors.AsType[*engine.FailedError](err); is && failed.Output != "" {
		text = strings.TrimSuffix(text, ": "+failed.Output)
	}
	s.step.unexpected = append(s.step.unexpected, text)
}

// happen makes the event happen and waits for what comes of it.
func (s *session) happen(ctx context.Context, e Event) error {
	s.step = activity{}
	clear(s.failed)
	err := s.look(ctx)
	if err != nil {
		return err
	}
	switch e.Type {
	case "apply", "delete", "patch":
		if err = s.change(ctx, e); err == nil {
			err = s.look(ctx) // what the person did is not the hook's
		}
	case "schedule":
		err = s.tick(e.Schedule)
	case "validate", "mutate":
		err = s.review(ctx, e)
	case "convert":
		err = s.convert(ctx, e)
	case "retry": // for which the queues are free again
	default:
		err = s.pass(ctx, e.Type)
	}
	if err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.touch(ctx)
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
	person := patch.Applier{API: api, Wait: s.cluster.Wait}
	return errors.Unwrap(unjoined(person.Apply(ctx, []output.Operation{{Operation: "CreateOrUpdate", Object: o.Object}})))
}

// namespace makes the namespace of an object, as it is made for what a test is given.
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

// unjoined is the only error of several that are joined.
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

// written is an operation as it stands in a patch file.
func written(op output.Operation) map[string]any {
	all := map[string]any{"operation": op.Operation, "apiVersion": op.APIVersion, "kind": op.Kind, "namespace": op.Namespace, "name": op.Name,
		"subresource": op.Subresource, "object": op.Object, "jqFilter": op.JQFilter, "mergePatch": op.MergePatch, "jsonPatch": op.JSONPatch,
		"ignoreMissingObject": op.IgnoreMissingObject, "ignoreHookError": op.IgnoreHookError}
	return without(all, nil, "", false)
}

// metric is one as it stands in a metrics file.
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

// without leaves out what has one of the values.
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
