package watch

import (
	"errors"
	"syscall"

	"github.com/operon-dev/operon/internal/fault"
)

// isLimit reports whether err says that the system watches no more.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// explain makes a user's error of one that the system gives for a watch. Its own
// words mislead: with "no space left on device" no disk is full.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fault.Failed("raise fs.inotify.max_user_watches, as in: sudo sysctl fs.inotify.max_user_watches=524288",
			"the system watches no more folders: the limit of this user is reached")
	case isLimit(err):
		return fault.Failed("raise fs.inotify.max_user_instances (beside it, fs.inotify.max_user_watches), or the limit of open files (ulimit -n)",
			"the system starts no more watches: a limit is reached")
	}
	return fault.In("watch files", err)
}
