package process

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Mark returns env with one more variable, and a function that kills every
// process which has it: also those that left the group of the child that was
// started with it, and lost their parents. envtest gives each API server a group
// of its own, so only a test that stops it gets rid of it, and a test that was
// killed or ran into its timeout does not.
func Mark(env []string) (marked []string, kill func()) {
	mark := "OPERON_RUN=" + rand.Text()
	return append(env[:len(env):len(env)], mark), func() { killMarked([]byte(mark)) }
}

// killMarked looks until there is nothing more to kill, for a process may start
// another one while it is looked at. A process that the kernel cannot end is
// left after a second.
func killMarked(mark []byte) {
	for range 100 {
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			env, err := os.ReadFile(file) // of other users' processes: refused
			if err != nil || !bytes.Contains(env, mark) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
