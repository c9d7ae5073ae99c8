package operator

import "github.com/operon-dev/operon/internal/hooks/engine"

// Replace starts a hook anew, or one that was not there before; with nil it ends.
// A run of it is killed, and what waits for it is dropped; its start, its
// synchronization and its schedules come as at the start of an engine. What failed
// elsewhere is tried again at once, for it may have waited for this. Webhooks that the
// API server does not take are told to Trouble.
func (o *Operator) Replace(name string, next *engine.Hook) {
	o.mu.Lock()
	former := o.hooks[name]
	delete(o.hooks, name)
	o.state.Remove(name)
	o.mu.Unlock()
	if former != nil {
		former.end()
		former.running.Wait()
	}
	o.mu.Lock()
	if next != nil {
		o.hooks[name] = o.adopt(*next)
		o.state.Add(*next)
	}
	registers := former != nil && webhooked(former.Hook) || next != nil && webhooked(*next)
	o.mu.Unlock()
	if registers {
		if err := o.register(o.life); err != nil && o.life.Err() == nil {
			o.Warn(name, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clock()
	close(o.retry)
	o.retry = make(chan struct{})
	o.kick()
}

func webhooked(h engine.Hook) bool {
	c := h.Config
	return len(c.Validating)+len(c.Mutating)+len(c.Conversion) > 0
}
