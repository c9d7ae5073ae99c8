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
	Patcher patch.API // for what hooks have patched
	Runner  engine.Runner
	// Host and Port are where the API server finds webhooks; see live.Cluster.Serve.
	Host string
	Port int
	// Report is told about each run of a hook, one at a time.
	Report func(Run)
	// Warn is told about what is tried again, such as a watch that broke off.
	Warn func(hook string, err error)
	Now  func() time.Time

	mu      sync.Mutex // for all below, and the state
	state   *engine.State
	hooks   map[string]*runningHook
	working map[string]bool // queues
	retry   chan struct{}   // closed when what failed may be tried at once
	crons   map[string]context.CancelFunc

	life      context.Context
	group     sync.WaitGroup
	reporting sync.Mutex

	registering sync.Mutex // for the one below
	registered  registration
}

// hooked is what runs for one hook.
type runningHook struct {
	engine.Hook
	life     context.Context // ends when the hook is replaced
	end      context.CancelFunc
	limit    *rate.Limiter
	bound    map[engine.Ref]bool
	running  sync.WaitGroup // runs and informers
	reported sync.Map       // trouble that is told once
}

// Run runs hooks until ctx ends, and then takes back what it registered. The error
// is about the start: webhooks that cannot be registered.
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
	o.clock()
	o.kick()
	o.mu.Unlock()
	<-ctx.Done()
	return nil
}

// begin prepares all that runs for hooks until life ends.
func (o *Operator) begin(life context.Context, hooks []engine.Hook) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.life, o.state = life, engine.New(hooks)
	o.hooks, o.working, o.crons = map[string]*runningHook{}, map[string]bool{}, map[string]context.CancelFunc{}
	o.retry = make(chan struct{})
	for _, h := range hooks {
		o.hooks[h.Name] = o.adopt(h)
	}
}

// rest waits until nothing runs any more: queues, and what the API server asked for.
// All life has ended before, so nothing begins.
func (o *Operator) wait() {
	o.group.Wait()
	o.mu.Lock()
	hooks := slices.Collect(maps.Values(o.hooks))
	o.mu.Unlock()
	for _, h := range hooks {
		h.running.Wait()
	}
}

// adopt prepares what runs for a hook.
func (o *Operator) adopt(h engine.Hook) *runningHook {
	k := &runningHook{Hook: h, bound: map[engine.Ref]bool{}, limit: limiter(h.Config)}
	k.life, k.end = context.WithCancel(o.life)
	return k
}

// limiter is how often the engine runs a hook.
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

// kick has queues worked on that have tasks. It is called with the lock.
func (o *Operator) kick() {
	for _, q := range o.state.Queues() {
		if !o.working[q] && o.life.Err() == nil {
			o.working[q] = true
			o.group.Go(func() { o.work(q) })
		}
	}
}

// work does the tasks of a queue until it is empty.
func (o *Operator) work(queue string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.working[queue] = false }()
	for o.life.Err() == nil {
		if head := o.state.Head(queue); head != nil && !o.paced(o.hooks[head.Name]) {
			continue // it was replaced, or all ends
		}
		t, more := o.state.Take(queue)
		if !more {
			o.kick() // what needed no hook may have brought tasks for others
			return
		}
		h, retry := o.hooks[t.Hook.Name], o.retry
		h.running.Add(1) // before anybody may wait for the end of the hook
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

// paced waits until a hook may run again by its settings. It reports whether the
// hook is still there. It is called with the lock, which it gives away meanwhile.
func (o *Operator) paced(h *runningHook) bool {
	o.mu.Unlock()
	defer o.mu.Lock()
	return h.limit.Wait(h.life) == nil
}

// wait ends after a time, or when there is no reason to wait any more.
func wait(ctx context.Context, retry <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-retry:
	case <-ctx.Done():
	}
}

// do does a task.
func (o *Operator) do(h *runningHook, t engine.Task) error {
	if t.Kind == engine.Enable {
		return o.enable(h, t)
	}
	return o.run(h.life, t, nil)
}

// enable lists what the bindings of a hook select, and follows it from then on.
func (o *Operator) enable(h *runningHook, t engine.Task) error {
	for _, ref := range t.Bindings {
		if h.bound[ref] {
			continue // a former try came that far
		}
		if err := o.bind(h, ref); err != nil {
			if h.life.Err() == nil {
				again := engine.Delay(t.Failures + 1)
				o.report(Run{At: o.Now(), Hook: h.Name, Queue: t.Queue, Enabling: h.Config.Kubernetes[ref.Place].BindingName(), Err: err, RetryIn: again})
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
	h.running.Go(func() { b.Run(h.life, o.news(h, ref)) })
	return nil
}

// news brings what informers tell to the state.
func (o *Operator) news(h *runningHook, ref engine.Ref) cluster.EventHandler {
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

// clock ticks for all crontabs of the hooks. It is called with the lock.
func (o *Operator) clock() {
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
			return // such as the 30th of February
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
