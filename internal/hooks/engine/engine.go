// Package engine reproduces the part of shell-operator between the cluster and the hooks. State
// converts changes of objects to tasks in queues, combines tasks, and creates their binding
// contexts. It uses no clock and no I/O, so the same events always result in the same tasks: its
// callers watch the cluster, wait, and finish the tasks. Executor and Runner run the hooks of
// tasks.
//
// The behaviour is that of shell-operator v1.20.1. testdata/traces has recordings of it.
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

// Ref identifies a kubernetes binding. It has the index, because several bindings of a hook may
// have the same name.
type Ref struct {
	Hook  string
	Index int // in Config.Kubernetes
}

// Kind is the kind of a task.
type Kind int

const (
	// Run is a task that runs the hook.
	Run Kind = iota
	// Enable is a task that calls State.BindingListed with the current objects of each of its
	// bindings, and starts to watch the bindings.
	Enable
	// Panics is a task that makes the engine panic on each attempt: an event for a
	// configuration without configVersion. Finish it with ErrPanics.
	Panics
)

// ErrPanics is the failure of tasks of the kind Panics.
var ErrPanics = errors.New("the engine panics when it creates the context of an event for a configuration without configVersion, " +
	"retries forever, and blocks the queue main: add configVersion: v1")

// mainQueue is the default queue. It also has the start-up tasks.
const mainQueue = "main"

// Task is an entry of a queue. Each queue runs one task at a time.
type Task struct {
	Kind         Kind
	Hook         Hook
	Queue        string            // "" for webhook requests and steps, which use no queue
	Bindings     []Ref             // the bindings that a task of the kind Enable enables
	Contexts     []binding.Context // the binding contexts for the hook
	AllowFailure bool
	Failures     int // the number of failed attempts

	task *task
}

// RetryDelay returns how long the engine waits before it retries a task after a number of failures.
// From the second failure on, the engine adds up to a second at random, which RetryDelay omits.
func RetryDelay(failures int) time.Duration {
	const first, longest = 5 * time.Second, 32 * time.Second
	switch {
	case failures <= 1:
		return first
	case failures > 6:
		return longest
	}
	return min(first+time.Second<<(failures-2), longest)
}
