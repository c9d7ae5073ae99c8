package scaffold

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// lock creates a named mutex that represents the root folder: Windows cannot
// lock a folder, and a lock file would be a write. The mutex ends with its last
// handle, at the latest with the process.
func lock(root string) (unlock func(), busy bool, err error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, false, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, false, err
	}
	name, err := windows.UTF16PtrFromString(`Global\operon-` + hash([]byte(strings.ToLower(abs))))
	if err != nil {
		return nil, false, err
	}
	h, err := windows.CreateMutex(nil, false, name)
	switch {
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS):
		return nil, true, windows.CloseHandle(h)
	case errors.Is(err, windows.ERROR_ACCESS_DENIED): // another user's
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	return func() { _ = windows.CloseHandle(h) }, false, nil
}
