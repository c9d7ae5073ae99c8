package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

const (
	// pidSuffix ends the names of the files that running programs keep locked.
	pidSuffix = ".pid"
	// orphanTimeout limits how long a killed program takes to exit, and to release the lock.
	orphanTimeout = 5 * time.Second
	// stopTimeout limits how long a supervisor takes to exit. Then it is killed.
	stopTimeout = 15 * time.Second
)

// Stop stops the control plane of that name, or removes the files that a dead one left.
// It returns the state before, and false if there was neither.
func (h *Home) Stop(ctx context.Context, name string) (State, bool, error) {
	s, ok := h.state(name)
	if !ok {
		return s, false, nil
	}
	signalled, killed := 0, false
	for deadline := time.Now().Add(stopTimeout); h.alive(name); {
		// A supervisor that has just started has not written its process ID yet.
		if now, err := h.read(name); err == nil && now.PID != signalled {
			signalled = now.PID
			h.signal(name, signalled, syscall.SIGTERM)
		}
		if time.Now().After(deadline) {
			if killed {
				return s, true, fault.Failed("kill it by hand", "the supervisor of control plane %q (process %d) does not exit", name, signalled)
			}
			killed, deadline = true, time.Now().Add(orphanTimeout)
			h.signal(name, signalled, syscall.SIGKILL)
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return s, true, context.Cause(ctx)
		}
	}
	return s, true, h.removeLeftovers(name, cmp.Or(signalled, s.PID))
}

// signal sends a signal to a live supervisor. It looks the process up before it checks
// the lock, so that it never signals a process that reuses the ID.
func (h *Home) signal(name string, pid int, sig os.Signal) {
	p, err := os.FindProcess(pid)
	if err != nil || pid <= 1 {
		return
	}
	defer func() { _ = p.Release() }()
	if s, err := h.read(name); err != nil || s.PID != pid || !h.alive(name) {
		return
	}
	if p.Signal(sig) != nil {
		_ = p.Kill() // Windows has no signals; killing the supervisor ends its programs too
	}
}

// removeLeftovers removes the files of a supervisor that has ended and had the process ID pid, unless
// another supervisor uses the name. A supervisor that is killed while it starts a program leaves a copy
// of itself, which holds the lock until it becomes the program; so removeLeftovers waits for the lock.
func (h *Home) removeLeftovers(name string, pid int) error {
	for deadline := time.Now().Add(orphanTimeout); ; {
		unlock, ok, err := h.acquire(name) // it pauses between its own tries
		if ok {
			defer unlock()
			return removeFolder(h.folder(name))
		}
		now, readErr := h.read(name)
		switch {
		case err != nil:
			return err
		case readErr == nil && now.PID != pid:
			return nil // another supervisor uses the name
		case time.Now().After(deadline):
			return fault.Failed("try again", "the files of control plane %q are still in use", name)
		}
	}
}

// removeFolder kills the programs that still run in a folder without a live supervisor,
// and removes the folder. The caller holds the lock.
func removeFolder(dir string) error {
	if err := killOrphans(dir); err != nil {
		return fmt.Errorf("control plane: %w", err)
	}
	return fault.In("control plane", os.RemoveAll(dir))
}
