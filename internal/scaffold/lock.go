package scaffold

import "github.com/operon-dev/operon/internal/fault"

// ErrBusy is what [Lock] says while another command holds the lock.
var ErrBusy = fault.Failed("wait until it is done, or stop it", "another operon command is running in this project")

// Lock keeps other operon commands out of the project at root until unlock is
// called or the process ends, however it ends. It writes nothing into the
// project, so that a dry run can hold it too.
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
