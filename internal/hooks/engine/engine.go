// Package engine does what shell-operator does between a cluster and its hooks: it turns
// changes of objects into tasks in queues, combines tasks, makes their binding contexts, and
// runs hooks. State decides without a clock and without I/O, so the same events always
// result in the same tasks. Its callers watch the cluster, wait, and apply what hooks wrote.
//
// The behaviour is that of shell-operator v1.20.1, recorded in testdata/traces.
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

// Ref names a kubernetes binding: by its place, for several of a hook may have
// the same name.
type Ref struct {
	Hook  string
	Place int // in Config.Kubernetes
}

// Kind is what a task asks for.
type Kind int

const (
	// Run asks to run the hook.
	Run Kind = iota
	// Enable asks to call State.Synced with what there is for each of the task's
	// bindings, and to observe them from then on.
	Enable
	// Breaks is a task with which the engine itself breaks off, whenever it tries:
	// an event of a configuration without a version. Finish it with ErrBreaks.
	Breaks
)

// ErrBreaks says what the engine does not survive.
var ErrBreaks = errors.New("the engine breaks off with a panic when it makes the context of an event for a configuration without configVersion, " +
	"tries again without end, and nothing behind it in the queue main is done: add configVersion: v1")

// Main is the queue of all that names no other, and of the start.
const Main = "main"

// Task is work that is due. Of each queue one task is at work at a time.
type Task struct {
	Kind         Kind
	Hook         Hook
	Queue        string            // "" for an answer to the API server, which waits in none
	Bindings     []Ref             // to enable
	Contexts     []binding.Context // to run the hook with
	AllowFailure bool
	Failures     int // how often it failed before

	task *task
}

// Delay is how long the engine waits before it tries a task again that failed that
// often, 1 the first time. The engine adds up to a second by chance, but for the
// first time.
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
