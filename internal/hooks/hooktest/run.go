package hooktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/testfile"
)

// Suite runs tests on a backend.
type Suite struct {
	Hooks   []engine.Hook // the tested hooks, and others for conversions
	Backend Backend
	Env     []string      // environment of hooks, from hooks.Sandbox
	Timeout time.Duration // for one test
	Addon   *Addon        // nil for hooks of shell-operator
	Record  bool          // the backend allows requests that no rule allows
}

// Outcome is the result of a test.
type Outcome struct {
	Test     *Test
	Failures []testfile.Failure
	Runs     int
	Output   string                   // of the hook, for all runs
	Warnings []finding.Finding        // about files that the hook wrote, without duplicates
	Requests map[string]rbac.Requests // by hook; "" stands for all hooks of addon-operator
	// HookFailed reports that a run of the hook failed, although the test does not expect
	// it. The results are then no basis for an update.
	HookFailed bool

	unmet int   // number of failures that are unmet expectations
	fixes []fix // corrections of unmet expectations
}

// Updatable reports whether a test passes after an update of its expectations, provided
// that it has the same results again. It also holds for a test that passes.
func (o Outcome) Updatable() bool { return !o.HookFailed && o.unmet == len(o.Failures) }

// Run runs tests, one after the other, and returns their outcomes. An error means that they
// could not run.
func (s Suite) Run(ctx context.Context, tests []*Test) ([]Outcome, error) {
	var outcomes []Outcome
	for _, t := range tests {
		outcome, err := s.test(ctx, t)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

func (s Suite) test(ctx context.Context, t *Test) (Outcome, error) {
	out := Outcome{Test: t}
	hooks, addon, err := s.subject(t)
	if err != nil {
		out.fail(t.Line, "%v", err)
		return out, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("the test did not end within %s (--timeout)", s.Timeout))
	defer cancel()
	cluster, err := s.Backend.Open(limited, t)
	if errors.Is(err, ErrStopped) {
		return out, ErrStopped
	}
	if err != nil {
		out.fail(t.Line, "%v", err)
		return out, nil
	}
	defer cluster.Close()
	home, err := os.MkdirTemp("", "operon-test-")
	if err != nil {
		return out, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	run := &session{
		test: t, cluster: cluster, state: engine.New(s.withConverters(hooks)), failed: map[string]bool{}, outcome: &out, addon: addon,
	}
	run.executor = func(hook string) engine.Executor {
		e := engine.Executor{
			Runner:  engine.Runner{Env: s.env(t, cluster.Env(hook, slices.Clone(s.Env)), home), Temp: home},
			Applier: kubeapi.Applier{Client: cluster.Hook(hook), Wait: cluster.Wait},
		}
		if addon != nil {
			e.Runner.Dir, e.Values = s.Addon.Dir, addon.store
		}
		return e
	}
	if len(hooks) > 0 {
		run.hook = hooks[0]
		run.folders = append(run.folders, filepath.Dir(run.hook.Path))
	}
	if addon != nil {
		run.folders = append(run.folders, s.Addon.Dir)
	}
	run.folders = append(run.folders, os.TempDir(), home)
	run.tracksChanges = t.needsChangedObjects()
	run.runTest(limited)
	run.takeRequests()
	if !s.Record {
		run.checkRefused()
	}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	out.Runs, out.Output = run.whole.runs, run.whole.output.String()
	slices.SortStableFunc(out.Failures, func(a, b testfile.Failure) int { return a.Line - b.Line })
	return out, nil
}

// subject returns the tested hook, if any, and the addon state. The error is a failure of
// the test.
func (s Suite) subject(t *Test) ([]engine.Hook, *addon, error) {
	var hooks []engine.Hook
	if t.File.Hook != "" {
		i := slices.IndexFunc(s.Hooks, func(h engine.Hook) bool { return h.Name == t.File.Hook })
		if i < 0 {
			return nil, nil, fmt.Errorf("there is no hook %s", t.File.Hook)
		}
		hooks = s.Hooks[i : i+1]
	}
	if s.Addon == nil {
		if word := t.addonOnlyKey(); word != "" {
			return nil, nil, fmt.Errorf("the key %s is only for hooks of addon-operator", word)
		}
		return hooks, nil, nil
	}
	a, err := s.Addon.open(t)
	return hooks, a, err
}

// withConverters returns the hooks and all others that convert the same CRDs, in engine
// order.
func (s Suite) withConverters(hooks []engine.Hook) []engine.Hook {
	if len(hooks) == 0 || len(hooks[0].Config.Conversion) == 0 {
		return hooks
	}
	var all []engine.Hook
	for _, h := range s.Hooks {
		switch {
		case h.Name == hooks[0].Name:
			all = append(all, h)
		case slices.ContainsFunc(h.Config.Conversion, func(c config.Conversion) bool {
			return slices.ContainsFunc(hooks[0].Config.Conversion, func(own config.Conversion) bool { return own.CRDName == c.CRDName })
		}):
			all = append(all, h.ConversionOnly())
		}
	}
	return all
}

// env returns the environment of a hook in a test.
func (s Suite) env(t *Test, env []string, home string) []string {
	env = append(before(env, t.Path...), "HOME="+home, "TMPDIR="+home)
	for _, k := range sortedKeys(t.Env) {
		env = append(env, k+"="+t.Env[k])
	}
	return env
}

// before prepends folders to PATH.
func before(env []string, folders ...string) []string {
	for i, v := range env {
		if path, is := strings.CutPrefix(v, "PATH="); is {
			env[i] = "PATH=" + strings.Join(append(slices.Clone(folders), path), string(filepath.ListSeparator))
		}
	}
	return env
}

func (o *Outcome) fail(line int, format string, args ...any) {
	o.Failures = append(o.Failures, testfile.Failure{Line: line, Message: fmt.Sprintf(format, args...)})
}

// runTest runs a test, up to the first step that prevents further ones.
func (s *session) runTest(ctx context.Context) {
	t := s.test
	if !s.canContinue(ctx, t.Line, "the start", s.start(ctx)) {
		return
	}
	s.checkStep(ctx, t.Line, "the start", nil)
	if t.File.Module != "" && t.Expect.testsEnabledScript() {
		s.step = activity{}
		s.runEnabledScript(ctx)
		s.checkStep(ctx, t.Line, "the script enabled", nil)
	}
	for i, e := range t.Events {
		what := fmt.Sprintf("event %d (%s)", i+1, e.Type)
		if !s.canContinue(ctx, e.Line, what, s.trigger(ctx, e)) {
			return
		}
		s.checkStep(ctx, e.Line, what, e.Expect)
	}
	if t.Expect != nil {
		s.compare(ctx, t.Expect, &s.whole)
	}
	s.checkIdempotent(ctx)
}

// canContinue reports whether the test can continue after a step. If not, it records the
// failure.
func (s *session) canContinue(ctx context.Context, line int, what string, err error) bool {
	var loop *loopError
	switch {
	case err == nil:
		return true
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.outcome.fail(line, "%s: %v", what, context.Cause(ctx))
	case errors.As(err, &loop):
		s.outcome.fail(line, "%s: %v", what, loop)
	default:
		s.outcome.fail(line, "%s: %v", what, err)
	}
	return false
}

// checkStep compares the results of a step with its expectation, and records unexpected
// failures of the hook.
func (s *session) checkStep(ctx context.Context, line int, what string, x *Expect) {
	if !x.mayFail() && !s.test.Expect.mayFail() {
		for _, failure := range s.step.unexpected {
			s.outcome.fail(line, "%s: %s", what, failure)
		}
		failed := s.step.runs > 0 && len(s.step.unexpected) > 0
		if failed && !x.mayBecomeFailure() && !s.test.Expect.mayBecomeFailure() {
			s.outcome.HookFailed = true
		}
	}
	if x != nil {
		s.compare(ctx, x, &s.step)
	}
}

// mayFail reports whether an expectation allows a run of the hook to fail.
func (x *Expect) mayFail() bool {
	return x != nil && (x.Error != "" || x.ExitCode != nil && *x.ExitCode != 0)
}

// mayBecomeFailure reports whether an expectation has a placeholder that an update may
// replace with the failure of a run.
func (x *Expect) mayBecomeFailure() bool {
	return x != nil && slices.ContainsFunc(x.EmptyKeys, func(k emptyKey) bool {
		return slices.Contains([]string{"", "exitCode", "error"}, k.key)
	})
}
