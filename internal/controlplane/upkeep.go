package controlplane

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

const (
	// upkeepEvery is the time between two looks of a keeper at its folder.
	upkeepEvery = 2 * time.Second
	// maxLog is the size in bytes at which a log begins anew: a control plane may
	// run for weeks while somebody's operator fails in a loop.
	maxLog = 64 << 20
)

// errLost is why a keeper ends whose folder somebody removed: nobody could find
// it any more, and so nobody could stop it.
var errLost = fault.Failed("", "its folder was removed")

// upkeep returns when ctx ends, or with errLost.
func (k *keeper) upkeep(ctx context.Context) error {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !k.home.holds(k.Name, os.Getpid()) {
			return errLost
		}
		trimLogs(k.home.folder(k.Name))
	}
}

// holds reports whether the folder of a name is there, and of this keeper. An
// error that tells neither is none.
func (h *Home) holds(name string, pid int) bool {
	s, err := h.read(name)
	return err == nil && s.PID == pid || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// trimLogs empties the logs that are too long. All of them are written with
// O_APPEND, and so go on at the beginning.
func trimLogs(dir string) {
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, path := range logs {
		if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
			_ = os.Truncate(path, 0) // the programs matter more
		}
	}
}
