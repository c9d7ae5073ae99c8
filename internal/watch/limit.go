package watch

import (
	"errors"
	"syscall"

	"github.com/operon-dev/operon/internal/fault"
)

// isLimit reports whether err means that the system cannot watch more folders.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// explain converts the system's error for a watch to an error for the user. The system's
// text is misleading: with "no space left on device", no disk is full.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fault.Failed("raise fs.inotify.max_user_watches, for example with: sudo sysctl fs.inotify.max_user_watches=524288",
			"the system cannot watch more folders: the limit of this user is reached")
	case isLimit(err):
		return fault.Failed("raise fs.inotify.max_user_instances, fs.inotify.max_user_watches, or the limit of open files (ulimit -n)",
			"the system cannot start another watch: a limit is reached")
	}
	return fault.In("watch files", err)
}
