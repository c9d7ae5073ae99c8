package operator

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
)

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
			ctx, end := context.WithCancel(o.ctx)
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
