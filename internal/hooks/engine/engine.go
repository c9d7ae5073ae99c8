// Package engine does the work of shell-operator between a cluster and its hooks. It turns
// changes of objects into tasks in queues, combines tasks, builds their binding contexts, and
// runs hooks. State uses no clock and no I/O, so the same events always result in the same
// tasks. Its callers watch the cluster, wait, and apply the patches of hooks.
//
// The behaviour is that of shell-operator v1.20.1. testdata/traces contains recordings.
package engine

import (
	"errors"
	"time"

	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// Hook is a hook with its configuration.
type Hook struct {
	hooks.Hook
	Config *config.Config
}

// Ref identifies a kubernetes binding. It uses the index, because several bindings of a
// hook may have the same name.
type Ref struct {
	Hook  string
	Place int // index in Config.Kubernetes
}

// Kind is the kind of work that a task requests.
type Kind int

const (
	// Run means to run the hook.
	Run Kind = iota
	// Enable means to call State.BindingListed with the current objects of each binding of
	// the task, and to observe the bindings from then on.
	Enable
	// Breaks is a task that makes the engine panic on each try: an event of a
	// configuration without configVersion. Finish it with ErrBreaks.
	Breaks
)

// ErrBreaks is the failure of tasks of kind Breaks.
var ErrBreaks = errors.New("the engine breaks off with a panic when it makes the context of an event for a configuration without configVersion, " +
	"tries again without end, and nothing behind it in the queue main is done: add configVersion: v1")

// Main is the default queue. It also runs the start-up tasks.
const Main = "main"

// Task is work to do. Each queue runs one task at a time.
type Task struct {
	Kind         Kind
	Hook         Hook
	Queue        string            // "" for webhook requests, which use no queue
	Bindings     []Ref             // the bindings to enable
	Contexts     []binding.Context // the binding contexts for the hook
	AllowFailure bool
	Failures     int // number of failed tries

	task *task
}

// Delay returns how long the engine waits before it retries a task that failed the given
// number of times. From the second failure on, the engine adds a random part of up to a
// second, which Delay omits.
func Delay(failures int) time.Duration {
	const first, longest = 5 * time.Second, 32 * time.Second
	switch {
	case failures <= 1:
		return first
	case failures > 6:
		return longest
	}
	return min(first+time.Second<<(failures-2), longest)
}
