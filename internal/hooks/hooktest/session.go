package hooktest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/testfile"
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
	executor func(hook string) engine.Executor
	addon    *addon // nil for shell-operator

	whole, step activity
	failed      map[string]bool // queues whose task failed and waits for a retry
	last        *engine.Task
	lastFailed  bool
	outcome     *Outcome

	folders       []string                              // machine-specific folders, which must not appear in updated tests
	tracksChanges bool                                  // record the objects that the hook changes
	before        map[string]*unstructured.Unstructured // the objects before the hook ran
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
			if v, found := c[key]; found && v != "Event" {
				words = append(words, fmt.Sprint(v))
			}
		}
		if o, isObject := c["object"].(*unstructured.Unstructured); isObject {
			words = append(words, testfile.Identity(o))
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
	case engine.Panics:
		failure = engine.ErrPanics
		s.note(failure)
	case engine.Enable:
		for _, b := range t.Bindings {
			objects, err := s.cluster.Bind(ctx, b, t.Hook.Config.Kubernetes[b.Index])
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

// execute runs the hook of a task with its own account.
func (s *session) execute(ctx context.Context, t engine.Task) (engine.Execution, error) {
	return s.executor(t.Hook.Name).Execute(ctx, t)
}

// run runs the hook and records the activity.
func (s *session) run(ctx context.Context, t engine.Task) (engine.Execution, error) {
	done, err := s.execute(ctx, t)
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
