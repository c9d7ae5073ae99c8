package scaffold

import "github.com/operon-dev/operon/internal/fault"

// ErrBusy is the error of [Lock] while another command holds the lock.
var ErrBusy = fault.Failed("wait until it finishes, or stop it", "another operon command is running in this project")

// Lock excludes other operon commands from the project at root, until unlock is
// called or the process ends. It writes nothing into the project, so a dry run
// can hold it too.
func Lock(root string) (unlock func(), err error) {
	unlock, busy, err := lock(root)
	if busy {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fileError("lock", root, err)
	}
	return unlock, nil
}
