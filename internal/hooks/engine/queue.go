package engine

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// taskKind is the kind of an internal task.
type taskKind int

const (
	runs taskKind = iota
	enablesKubernetes
	enablesSchedules
)

// task is an entry of a queue.
type task struct {
	of       taskKind
	hook     *hookState
	group    string
	events   []event
	allow    bool
	alone    bool       // a start-up task is never combined
	silent   bool       // a synchronization with executeHookOnSynchronization: false
	unlocks  []*monitor // monitors to unlock when the task is done
	frees    bool       // it unlocks its monitors when it finishes
	failures int
}

// origin is the binding type that causes a context.
type origin int

const (
	atStartup origin = iota
	atSchedule
	atSynchronization
	atEvent
)

// event is a binding context that is not built yet. The snapshots are taken when the hook
// runs.
type event struct {
	of    origin
	place int // index of the binding in the configuration
	group string
	watch string
	item  binding.Item
}

func (t *task) synchronizes() bool { return len(t.events) > 0 && t.events[0].of == atSynchronization }

// due returns the task for the caller of Take, with its binding contexts.
func (t *task) due(queue string) Task {
	taken := Task{Hook: t.hook.Hook, Queue: queue, AllowFailure: t.allow, Failures: t.failures, task: t}
	contexts := t.hook.contexts()
	for _, e := range t.events {
		ctx := binding.Startup()
		switch e.of { // snapshots are in memory, so no call fails
		case atSchedule:
			ctx, _ = contexts.Schedule(t.hook.Config.Schedule[e.place])
		case atSynchronization:
			ctx, _ = contexts.Synchronization(e.place)
		case atEvent:
			ctx, _ = contexts.Event(e.place, e.watch, e.item)
		}
		taken.Contexts = append(taken.Contexts, ctx)
	}
	return taken
}

// threshold is the number of tasks of a hook from which on a queue is compacted.
const threshold = 100

// queue holds tasks that run one after the other.
type queue struct {
	tasks []*task
	busy  bool // the first task is running
	// counts is the number of added tasks per hook minus the combined ones. Like the
	// engine, it does not subtract finished tasks. full has the hooks that reached the
	// threshold.
	counts map[*hookState]int
	full   map[*hookState]bool
}

func (q *queue) add(t *task) {
	q.tasks = append(q.tasks, t)
	if t.of != runs {
		return
	}
	if q.counts[t.hook]++; q.counts[t.hook] == threshold {
		q.full[t.hook] = true
	}
	if len(q.tasks) > threshold {
		q.compact()
	}
}

func (q *queue) drop() { q.tasks = q.tasks[1:] }

// combine merges the following tasks of the same hook into the first one. Of consecutive
// contexts of one group only the last remains, because a group has one context for all
// its bindings.
func (q *queue) combine() {
	first, n := q.tasks[0], 1
	for n < len(q.tasks) && q.tasks[n].of == runs && q.tasks[n].hook == first.hook {
		first.merge(q.tasks[n])
		n++
	}
	if n == 1 {
		return
	}
	q.tasks = slices.Delete(q.tasks, 1, n)
	q.subtract(first.hook, n-1)
	var left []event
	for i, e := range first.events {
		if e.group == "" || i+1 == len(first.events) || first.events[i+1].group != e.group {
			left = append(left, e)
		}
	}
	first.events = left
}

func (t *task) merge(other *task) {
	t.events = append(t.events, other.events...)
	t.unlocks = append(t.unlocks, other.unlocks...)
}

func (q *queue) subtract(h *hookState, tasks int) {
	if q.counts[h] = max(0, q.counts[h]-tasks); q.counts[h] < threshold {
		delete(q.full, h)
	}
}

// compact merges all tasks of the hooks that reached the threshold, at any position.
// Contexts without a group come first, then the last context of each group.
func (q *queue) compact() {
	if len(q.full) == 0 || len(q.tasks) < 2 {
		return
	}
	full := q.full
	q.full = map[*hookState]bool{}
	targets := map[*hookState]*task{}
	atWork := q.tasks[0]
	q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool {
		if t.of != runs || !full[t.hook] || q.busy && t == atWork {
			return false
		}
		target := targets[t.hook]
		if target == nil {
			targets[t.hook] = t
			return false
		}
		target.merge(t)
		q.subtract(t.hook, 1)
		return true
	})
	for _, t := range targets {
		t.events = lastOfGroups(t.events)
	}
}

func lastOfGroups(events []event) []event {
	last := map[string]int{}
	var left []event
	for i, e := range events {
		if e.group == "" {
			left = append(left, e)
		} else {
			last[e.group] = i
		}
	}
	for _, i := range slices.Sorted(maps.Values(last)) {
		left = append(left, events[i])
	}
	return left
}
