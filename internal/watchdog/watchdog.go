// Package watchdog ends operon if foreign code does not end: a template of a chart or of a team can loop for ever,
// call itself for ever, or fill the memory, and Go can neither stop it nor survive an overflow of the stack.
//
// The process exits, so foreign code must not run while operon writes.
package watchdog

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// The limits for foreign code.
const (
	maxTime  = time.Minute
	maxHeap  = 3 << 30   // bytes
	maxStack = 256 << 20 // bytes
	patience = 500 * time.Millisecond
	interval = 10 * time.Millisecond
)

// running is the foreign code that runs now, by a number for each call of Enter.
var running struct {
	sync.Mutex
	calls    map[int]call
	next     int
	watch    func() // returns when there are no calls; nil before Start
	watching bool
}

type call struct {
	what  string
	since time.Time
}

// Enter says that foreign code starts to run, for example "the template a.yaml". The caller calls leave when it has ended.
func Enter(what string) (leave func()) {
	running.Lock()
	defer running.Unlock()
	if running.calls == nil {
		running.calls = map[int]call{}
	}
	if !running.watching && running.watch != nil {
		running.watching = true
		go running.watch()
	}
	n := running.next
	running.next++
	running.calls[n] = call{what, time.Now()}
	return func() {
		running.Lock()
		defer running.Unlock()
		delete(running.calls, n)
	}
}

// Hint is the hint for the error of a limit.
const Hint = "look for a loop, or for a template that calls itself"

// Start watches foreign code until the process ends. It calls exit, which must not return, if foreign code exceeds a limit, or
// still runs some time after the end of the context; the error is the cause of that end.
func Start(ctx context.Context, exit func(error)) {
	debug.SetMaxStack(math.MaxInt32) // an overflow goes on until exit is called; Go has no higher limit
	running.Lock()
	defer running.Unlock()
	running.watch = func() { watch(ctx, exit) }
}

// watch watches until no foreign code runs.
func watch(ctx context.Context, exit func(error)) {
	var ended time.Time // when the context had ended
	for {
		time.Sleep(interval)
		c, ok := longest()
		if !ok {
			return
		}
		if ctx.Err() != nil && ended.IsZero() {
			ended = time.Now()
		}
		if !ended.IsZero() && time.Since(ended) > patience {
			exit(context.Cause(ctx))
		}
		if err := exceeded(c); err != nil {
			exit(err)
		}
	}
}

// exceeded returns an error if foreign code exceeds a limit.
func exceeded(c call) error {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	switch {
	case time.Since(c.since) > maxTime:
		return fmt.Errorf("%s does not end within %s", c.what, maxTime)
	case samples[0].Value.Uint64() > maxHeap:
		return fmt.Errorf("%s needs more than %d GiB of memory", c.what, maxHeap>>30)
	case samples[1].Value.Uint64() > maxStack:
		return fmt.Errorf("%s calls itself without end", c.what)
	}
	return nil
}

// longest returns the foreign code that has run for the longest time. Without any, the watch ends.
func longest() (oldest call, ok bool) {
	running.Lock()
	defer running.Unlock()
	for _, c := range running.calls {
		if !ok || c.since.Before(oldest.since) {
			oldest, ok = c, true
		}
	}
	running.watching = ok
	return oldest, ok
}
