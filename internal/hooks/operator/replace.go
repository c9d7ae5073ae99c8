package operator

import "github.com/operon-dev/operon/internal/hooks/engine"

// Replace restarts or adds a hook, or removes it if next is nil. It kills the current run
// and drops the hook's tasks. The new hook then gets its onStartup, Synchronization and
// schedules as when the engine starts. Failed tasks of other hooks are retried
// immediately, because they may depend on this hook. Warn receives the error if the API
// server rejects the webhooks.
func (o *Operator) Replace(name string, next *engine.Hook) {
	o.mu.Lock()
	former := o.hooks[name]
	delete(o.hooks, name)
	o.state.Remove(name)
	if former != nil {
		former.end() // before others get mu: they look at the context before they use the hook's state
	}
	o.mu.Unlock()
	if former != nil {
		former.running.Wait()
	}
	o.mu.Lock()
	if next != nil {
		o.hooks[name] = o.newRunningHook(*next)
		o.state.Add(*next)
	}
	registers := former != nil && hasWebhooks(former.Hook) || next != nil && hasWebhooks(*next)
	o.mu.Unlock()
	if registers {
		if err := o.register(o.ctx); err != nil && o.ctx.Err() == nil {
			o.Warn(name, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startSchedules()
	close(o.retry)
	o.retry = make(chan struct{})
	o.kick()
}

func hasWebhooks(h engine.Hook) bool {
	c := h.Config
	return len(c.Validating)+len(c.Mutating)+len(c.Conversion) > 0
}
