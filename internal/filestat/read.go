package filestat

import (
	"errors"
	"io/fs"
	"os"
)

// ErrIrregular is the error of ReadFile for a named pipe, a socket or a device.
var ErrIrregular = errors.New("not a regular file, but a pipe, a socket or a device")

// ReadFile reads a regular file, or a link to one. os.ReadFile would wait until a process
// writes to a named pipe, and would never reach the end of some devices.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}
