// Package operator runs hooks against a real API server as shell-operator does: it drives an
// engine.State with informers, a clock, parallel queues and a webhook server. Reloader
// restarts hooks whose files change. It is for development and keeps no state.
package operator

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"golang.org/x/time/rate"
)

// Operator runs hooks.
type Operator struct {
	Cluster *cluster.Cluster
	Patcher patch.API // applies the patches of hooks
	Runner  engine.Runner
	// Host and Port are the address of the webhook server; see cluster.Cluster.Serve.
	Host string
	Port int
	// Report receives each run of a hook. Calls are sequential.
	Report func(Run)
	// Warn receives errors that do not stop the operator, such as a broken watch that is retried.
	Warn func(hook string, err error)
	Now  func() time.Time

	mu      sync.Mutex // guards the fields below and the state
	state   *engine.State
	hooks   map[string]*runningHook
	working map[string]bool // queues
	retry   chan struct{}   // closed when failed tasks can be retried immediately
	crons   map[string]context.CancelFunc

	ctx       context.Context // ends when Run ends; for queues, schedules and new hooks
	group     sync.WaitGroup
	reporting sync.Mutex

	registering sync.Mutex // guards registered
	registered  registration
}

// runningHook is a hook with its runs and informers.
type runningHook struct {
	engine.Hook
	ctx      context.Context // ends when the hook is replaced; for its runs and informers
	end      context.CancelFunc
	limit    *rate.Limiter
	bound    map[engine.Ref]bool
	running  sync.WaitGroup // runs and informers
	reported sync.Map       // errors that are reported once
}

// Run runs hooks until ctx ends, and then deregisters their webhooks. It returns an error
// if it cannot register webhooks at the start.
func (o *Operator) Run(ctx context.Context, hooks []engine.Hook) error {
	ctx, end := context.WithCancel(ctx)
	o.begin(ctx, hooks)
	defer o.wait()
	defer o.unregister()
	defer end()
	if err := o.Cluster.RemoveStale(ctx); err != nil && ctx.Err() == nil {
		o.Warn("", err)
	}
	if err := o.register(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	o.mu.Lock()
	o.state.Start()
	o.startSchedules()
	o.kick()
	o.mu.Unlock()
	<-ctx.Done()
	return nil
}

// begin initializes the state for hooks that run until ctx ends.
func (o *Operator) begin(ctx context.Context, hooks []engine.Hook) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx, o.state = ctx, engine.New(hooks)
	o.hooks, o.working, o.crons = map[string]*runningHook{}, map[string]bool{}, map[string]context.CancelFunc{}
	o.retry = make(chan struct{})
	for _, h := range hooks {
		o.hooks[h.Name] = o.newRunningHook(h)
	}
}

// wait waits until all queues and webhook requests are done. The context of the operator has
// ended before, so nothing new starts.
func (o *Operator) wait() {
	o.group.Wait()
	o.mu.Lock()
	hooks := slices.Collect(maps.Values(o.hooks))
	o.mu.Unlock()
	for _, h := range hooks {
		h.running.Wait()
	}
}

// newRunningHook initializes a hook.
func (o *Operator) newRunningHook(h engine.Hook) *runningHook {
	k := &runningHook{Hook: h, bound: map[engine.Ref]bool{}, limit: limiter(h.Config)}
	k.ctx, k.end = context.WithCancel(o.ctx)
	return k
}

// limiter returns the rate limit of a hook's settings, as the engine applies it.
func limiter(c *config.Config) *rate.Limiter {
	every, burst := rate.Inf, 1
	if s := c.Settings; s != nil {
		if interval, err := time.ParseDuration(s.ExecutionMinInterval); err == nil && interval > 0 {
			every = rate.Every(interval)
		}
		if s.ExecutionBurst != nil && *s.ExecutionBurst > 0 {
			burst = int(*s.ExecutionBurst)
		}
	}
	return rate.NewLimiter(every, burst)
}

// kick starts a worker for each queue that has tasks. The caller holds mu.
func (o *Operator) kick() {
	for _, q := range o.state.Queues() {
		if !o.working[q] && o.ctx.Err() == nil {
			o.working[q] = true
			o.group.Go(func() { o.work(q) })
		}
	}
}

// work runs the tasks of a queue until it is empty.
func (o *Operator) work(queue string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.working[queue] = false }()
	for o.ctx.Err() == nil {
		if next, ok := o.state.NextHook(queue); ok && !o.waitForLimit(o.hooks[next.Name]) {
			continue // the hook was replaced, or the operator stops
		}
		t, more := o.state.Take(queue)
		if !more {
			o.kick() // tasks without a hook can add tasks to other queues
			return
		}
		h, retry := o.hooks[t.Hook.Name], o.retry
		h.running.Add(1) // before another goroutine can wait for the hook
		o.mu.Unlock()
		err := o.do(h, t)
		h.running.Done()
		o.mu.Lock()
		o.state.Finish(t, err)
		o.kick()
		if err != nil && !t.AllowFailure && h.ctx.Err() == nil {
			o.mu.Unlock()
			wait(h.ctx, retry, engine.RetryDelay(t.Failures+1))
			o.mu.Lock()
		}
	}
}

// waitForLimit waits until the rate limit lets a hook run. It returns false if the hook
// was replaced. The caller holds mu, which is unlocked during the wait.
func (o *Operator) waitForLimit(h *runningHook) bool {
	o.mu.Unlock()
	defer o.mu.Lock()
	return h.limit.Wait(h.ctx) == nil
}

// wait returns after d, or earlier when retry is closed or ctx ends.
func wait(ctx context.Context, retry <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-retry:
	case <-ctx.Done():
	}
}

// do executes a task.
func (o *Operator) do(h *runningHook, t engine.Task) error {
	if t.Kind == engine.Enable {
		return o.enable(h, t)
	}
	return o.run(h.ctx, t, nil)
}
