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
	// maintainEvery is how often a supervisor checks its folder.
	maintainEvery = 2 * time.Second
	// maxLog is the size in bytes at which a log is truncated: a control plane may run
	// for weeks while an operator fails in a loop.
	maxLog = 64 << 20
)

// errFolderRemoved ends a supervisor whose folder was removed, because no command could
// find or stop it any more.
var errFolderRemoved = fault.Failed("start the control plane again", "its folder was removed")

// maintain limits the size of logs until ctx ends, or the folder was removed.
func (k *supervisor) maintain(ctx context.Context) error {
	tick := time.NewTicker(maintainEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !k.home.ownsFolder(k.Name, os.Getpid()) {
			return errFolderRemoved
		}
		trimLogs(k.home.folder(k.Name))
	}
}

// ownsFolder reports whether the folder of a name exists and belongs to the supervisor
// with the process ID. It also reports true if it cannot tell.
func (h *Home) ownsFolder(name string, pid int) bool {
	s, err := h.read(name)
	return err == nil && s.PID == pid || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// trimLogs truncates logs that are too long. Their writers use O_APPEND, so they
// continue at the start of the file.
func trimLogs(dir string) {
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, path := range logs {
		if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
			_ = os.Truncate(path, 0) // a failure must not end the programs
		}
	}
}
