package engine

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// what a task in a queue is about.
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
	alone    bool       // a start is combined with nothing
	silent   bool       // a synchronization that does not run the hook
	unlocks  []*monitor // whose events wait for the end of the task
	frees    bool       // it was a synchronization when it was taken
	failures int
}

// origin is where a context comes from.
type origin int

const (
	atStartup origin = iota
	atSchedule
	atSynchronization
	atEvent
)

// event is a context that is not made yet: its snapshots are those of the moment
// when the hook is run.
type event struct {
	of    origin
	place int // of the binding in the configuration
	group string
	watch string
	item  binding.Item
}

func (t *task) synchronizes() bool { return len(t.events) > 0 && t.events[0].of == atSynchronization }

// due makes the task for whoever runs the hook.
func (t *task) due(queue string) Task {
	taken := Task{Hook: t.hook.Hook, Queue: queue, AllowFailure: t.allow, Failures: t.failures, task: t}
	contexts := t.hook.contexts()
	for _, e := range t.events {
		ctx := binding.Startup()
		switch e.of { // none fails: the snapshots are at hand
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

// threshold is how many tasks of a hook are too many for a queue.
const threshold = 100

// queue holds tasks that wait for each other.
type queue struct {
	tasks []*task
	busy  bool // with the first
	// counts are how many tasks of a hook came, less those that were combined, but
	// not less those that are done. At the threshold, once, a hook is in full.
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

// combine moves the contexts of the tasks that follow the first into it, as long
// as they are of the same hook. Of contexts of one group that follow each other
// the last is left, for it tells what all do.
func (q *queue) combine() {
	first, n := q.tasks[0], 1
	for n < len(q.tasks) && q.tasks[n].of == runs && q.tasks[n].hook == first.hook {
		first.take(q.tasks[n])
		n++
	}
	if n == 1 {
		return
	}
	q.tasks = slices.Delete(q.tasks, 1, n)
	q.forget(first.hook, n-1)
	var left []event
	for i, e := range first.events {
		if e.group == "" || i+1 == len(first.events) || first.events[i+1].group != e.group {
			left = append(left, e)
		}
	}
	first.events = left
}

func (t *task) take(other *task) {
	t.events = append(t.events, other.events...)
	t.unlocks = append(t.unlocks, other.unlocks...)
}

func (q *queue) forget(h *hookState, tasks int) {
	if q.counts[h] = max(0, q.counts[h]-tasks); q.counts[h] < threshold {
		delete(q.full, h)
	}
}

// compact combines all tasks of the hooks that have too many, wherever they stand:
// contexts without a group first, and of each group the last one.
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
		target.take(t)
		q.forget(t.hook, 1)
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
