package engine

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// taskKind is the kind of an internal task.
type taskKind int

const (
	runHook taskKind = iota
	enableKubernetes
	enableSchedules
)

// task is an entry of a queue.
type task struct {
	kind          taskKind
	hook          *hookState
	group         string
	events        []event
	allowFailure  bool
	neverCombined bool       // a start-up task
	skipHook      bool       // a synchronization with executeHookOnSynchronization: false
	monitors      []*monitor // the monitors that the synchronization is for
	deliverAfter  bool       // deliver the delayed events of the monitors when the task finishes
	failures      int
}

// origin is the source of an event.
type origin int

const (
	fromStartup origin = iota
	fromSchedule
	fromSynchronization
	fromEvent
)

// event has the data for a binding context. The context is created when the hook runs, because it
// has the snapshots of that time.
type event struct {
	origin     origin
	index      int // of the binding in the configuration
	group      string
	watchEvent string
	item       binding.Item
}

func (t *task) isSynchronization() bool {
	return len(t.events) > 0 && t.events[0].origin == fromSynchronization
}

// withContexts returns the task for the caller of Take, with its binding contexts.
func (t *task) withContexts(queue string) Task {
	result := Task{Hook: t.hook.Hook, Queue: queue, AllowFailure: t.allowFailure, Failures: t.failures, task: t}
	contexts := t.hook.contexts()
	for _, e := range t.events {
		ctx := binding.Startup()
		switch e.origin { // snapshots are in memory, so no call fails
		case fromSchedule:
			ctx, _ = contexts.Schedule(t.hook.Config.Schedule[e.index])
		case fromSynchronization:
			ctx, _ = contexts.Synchronization(e.index)
		case fromEvent:
			ctx, _ = contexts.Event(e.index, e.watchEvent, e.item)
		}
		result.Contexts = append(result.Contexts, ctx)
	}
	return result
}

// threshold is the number of tasks of a hook at which a queue is compacted.
const threshold = 100

// queue is a list of tasks that run one after the other.
type queue struct {
	tasks []*task
	busy  bool // the first task is running
	// counts is the number of added tasks by hook, minus the combined ones. As in the engine,
	// finished tasks are not subtracted. full has the hooks that reached the threshold.
	counts map[*hookState]int
	full   map[*hookState]bool
}

func (q *queue) add(t *task) {
	q.tasks = append(q.tasks, t)
	if t.kind != runHook {
		return
	}
	if q.counts[t.hook]++; q.counts[t.hook] == threshold {
		q.full[t.hook] = true
	}
	if len(q.tasks) > threshold {
		q.compact()
	}
}

// removeFirst removes the first task.
func (q *queue) removeFirst() { q.tasks = q.tasks[1:] }

// combine merges the following tasks of the same hook into the first one. Of consecutive events
// of one group only the last remains, because a group has one context for all its bindings.
func (q *queue) combine() {
	first, n := q.tasks[0], 1
	for n < len(q.tasks) && q.tasks[n].kind == runHook && q.tasks[n].hook == first.hook {
		first.merge(q.tasks[n])
		n++
	}
	if n == 1 {
		return
	}
	q.tasks = slices.Delete(q.tasks, 1, n)
	q.subtract(first.hook, n-1)
	var remaining []event
	for i, e := range first.events {
		if e.group == "" || i+1 == len(first.events) || first.events[i+1].group != e.group {
			remaining = append(remaining, e)
		}
	}
	first.events = remaining
}

func (t *task) merge(other *task) {
	t.events = append(t.events, other.events...)
	t.monitors = append(t.monitors, other.monitors...)
}

// subtract removes combined tasks from the count of a hook.
func (q *queue) subtract(h *hookState, tasks int) {
	if q.counts[h] = max(0, q.counts[h]-tasks); q.counts[h] < threshold {
		delete(q.full, h)
	}
}

// compact merges all tasks of the hooks that reached the threshold, at any position in the
// queue. Events without a group come first, then the last event of each group.
func (q *queue) compact() {
	if len(q.full) == 0 || len(q.tasks) < 2 {
		return
	}
	full := q.full
	q.full = map[*hookState]bool{}
	targets := map[*hookState]*task{}
	first := q.tasks[0]
	q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool {
		if t.kind != runHook || !full[t.hook] || q.busy && t == first {
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
		t.events = lastOfEachGroup(t.events)
	}
}

// lastOfEachGroup returns the events without a group, followed by the last event of each group.
func lastOfEachGroup(events []event) []event {
	last := map[string]int{}
	var remaining []event
	for i, e := range events {
		if e.group == "" {
			remaining = append(remaining, e)
		} else {
			last[e.group] = i
		}
	}
	for _, i := range slices.Sorted(maps.Values(last)) {
		remaining = append(remaining, events[i])
	}
	return remaining
}
