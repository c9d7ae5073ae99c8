package controlplane

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

const (
	// pidSuffix ends the names of the files that running programs hold.
	pidSuffix = ".pid"
	// orphanTimeout bounds how long a killed program takes to go.
	orphanTimeout = 5 * time.Second
	// stopTimeout bounds how long a keeper takes to end; then it is killed.
	stopTimeout = 15 * time.Second
)

// Stop ends the control plane of that name, if there is one, and removes what
// one that died left behind. It returns what was there, and false for nothing.
func (h *Home) Stop(ctx context.Context, name string) (State, bool, error) {
	s, ok := h.look(name)
	if !ok {
		return s, false, nil
	}
	asked, killed := 0, false
	for deadline := time.Now().Add(stopTimeout); h.alive(name); {
		// A keeper that has only just begun has not written its id yet.
		if now, err := h.read(name); err == nil && now.PID != asked {
			asked = now.PID
			h.signal(name, asked, syscall.SIGTERM)
		}
		if time.Now().After(deadline) {
			if killed {
				return s, true, fault.Failed("end it by hand", "the keeper of control plane %q (process %d) does not end", name, asked)
			}
			killed, deadline = true, time.Now().Add(orphanTimeout)
			h.signal(name, asked, syscall.SIGKILL)
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return s, true, context.Cause(ctx)
		}
	}
	return s, true, h.sweep(name)
}

// signal sends a signal to a living keeper. The process is looked up before the
// lock, so that it can not be one that got the id of a keeper that ended.
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
		_ = p.Kill() // Windows has no other signal, and ends the programs too
	}
}

// sweep removes what a keeper left that is gone.
func (h *Home) sweep(name string) error {
	unlock, err := h.acquire(name)
	if err != nil || unlock == nil {
		return err // another keeper has begun
	}
	defer unlock()
	return wipe(h.folder(name))
}

// wipe removes a folder that no living keeper owns, with the programs that live
// on in it. The caller holds the lock.
func wipe(dir string) error {
	if err := endOrphans(dir); err != nil {
		return fmt.Errorf("control plane: %w", err)
	}
	return fault.In("control plane", os.RemoveAll(dir))
}
