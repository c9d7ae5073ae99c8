package process

import (
	"os"
	"syscall"
)

// WriteProgram writes an executable file. Meanwhile, this process starts no other process:
// the new process would hold the file open for writing for a moment, and the system does not
// run such a program ("text file busy", go.dev/issue/22315).
func WriteProgram(path string, content []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, mode)
}
