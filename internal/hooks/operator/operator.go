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

	life      context.Context
	group     sync.WaitGroup
	reporting sync.Mutex

	registering sync.Mutex // guards registered
	registered  registration
}

// runningHook is a hook with its runs and informers.
type runningHook struct {
	engine.Hook
	life     context.Context // ends when the hook is replaced
	end      context.CancelFunc
	limit    *rate.Limiter
	bound    map[engine.Ref]bool
	running  sync.WaitGroup // runs and informers
	reported sync.Map       // errors that are reported once
}

// Run runs hooks until ctx ends, and then deregisters their webhooks. It returns an error
// if it cannot register webhooks at the start.
func (o *Operator) Run(ctx context.Context, hooks []engine.Hook) error {
	life, end := context.WithCancel(ctx)
	o.begin(life, hooks)
	defer o.wait()
	defer o.unregister()
	defer end()
	if err := o.Cluster.RemoveStale(life); err != nil && life.Err() == nil {
		o.Warn("", err)
	}
	if err := o.register(life); err != nil {
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

// begin initializes the state for hooks that run until life ends.
func (o *Operator) begin(life context.Context, hooks []engine.Hook) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.life, o.state = life, engine.New(hooks)
	o.hooks, o.working, o.crons = map[string]*runningHook{}, map[string]bool{}, map[string]context.CancelFunc{}
	o.retry = make(chan struct{})
	for _, h := range hooks {
		o.hooks[h.Name] = o.newRunningHook(h)
	}
}

// wait waits until all queues and webhook requests are done. The life of the operator has
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
	k.life, k.end = context.WithCancel(o.life)
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
		if !o.working[q] && o.life.Err() == nil {
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
	for o.life.Err() == nil {
		if head := o.state.Head(queue); head != nil && !o.waitForLimit(o.hooks[head.Name]) {
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
		if err != nil && !t.AllowFailure && h.life.Err() == nil {
			o.mu.Unlock()
			wait(h.life, retry, engine.Delay(t.Failures+1))
			o.mu.Lock()
		}
	}
}

// waitForLimit waits until the rate limit lets a hook run. It returns false if the hook
// was replaced. The caller holds mu, which is unlocked during the wait.
func (o *Operator) waitForLimit(h *runningHook) bool {
	o.mu.Unlock()
	defer o.mu.Lock()
	return h.limit.Wait(h.life) == nil
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
	return o.run(h.life, t, nil)
}

// enable lists and then watches the objects that the bindings of a hook select.
func (o *Operator) enable(h *runningHook, t engine.Task) error {
	for _, ref := range t.Bindings {
		if h.bound[ref] {
			continue // bound by an earlier attempt
		}
		if err := o.bind(h, ref); err != nil {
			if h.life.Err() == nil {
				retryIn := engine.Delay(t.Failures + 1)
				o.report(Run{At: o.Now(), Hook: h.Name, Queue: t.Queue, Enabling: h.Config.Kubernetes[ref.Place].BindingName(), Err: err, RetryIn: retryIn})
			}
			return err
		}
		h.bound[ref] = true
	}
	return nil
}

func (o *Operator) bind(h *runningHook, ref engine.Ref) error {
	b, err := o.Cluster.Bind(h.life, h.Config.Kubernetes[ref.Place])
	if err != nil {
		return err
	}
	o.mu.Lock()
	err = o.state.BindingListed(ref, b.Objects())
	o.mu.Unlock()
	if err != nil {
		return err
	}
	h.running.Go(func() { b.Run(h.life, o.eventHandler(h, ref)) })
	return nil
}

// eventHandler returns a handler that passes events of informers to the state.
func (o *Operator) eventHandler(h *runningHook, ref engine.Ref) cluster.EventHandler {
	change := func(what func() error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if h.life.Err() != nil {
			return
		}
		if err := what(); err != nil {
			o.Warn(h.Name, err)
		}
		o.kick()
	}
	return cluster.EventHandler{
		Event: func(event string, object *unstructured) {
			change(func() error { return o.state.ObjectChanged(ref, event, object) })
		},
		Selected: func(_ string, objects []*unstructured) {
			change(func() error { return o.state.NamespaceSelected(ref, objects) })
		},
		Unselected: func(namespace string) {
			change(func() error { o.state.NamespaceUnselected(ref, namespace); return nil })
		},
		Error: func(err error) {
			if h.life.Err() == nil {
				o.Warn(h.Name, err)
			}
		},
	}
}

// startSchedules starts and stops timers, so that each crontab of the hooks has one. The
// caller holds mu.
func (o *Operator) startSchedules() {
	var wanted []string
	for _, h := range o.hooks {
		for _, s := range h.Config.Schedule {
			wanted = append(wanted, s.Crontab)
		}
	}
	for crontab, end := range o.crons {
		if !slices.Contains(wanted, crontab) {
			end()
			delete(o.crons, crontab)
		}
	}
	for _, crontab := range wanted {
		if o.crons[crontab] == nil {
			ctx, end := context.WithCancel(o.life)
			o.crons[crontab] = end
			o.group.Go(func() { o.ticks(ctx, crontab) })
		}
	}
}

func (o *Operator) ticks(ctx context.Context, crontab string) {
	for {
		now := o.Now()
		next := config.NextTime(crontab, now)
		if next.IsZero() {
			return // for example, February 30
		}
		wait(ctx, nil, next.Sub(now))
		if ctx.Err() != nil {
			return
		}
		o.mu.Lock()
		o.state.Tick(crontab)
		o.kick()
		o.mu.Unlock()
	}
}
