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

// Mark returns env with an additional variable, and a function that kills every
// process that has it, including orphans that left the process group of the
// child. envtest starts each API server in its own group, so an API server
// survives a test that is killed or times out.
func Mark(env []string) (marked []string, kill func()) {
	mark := "OPERON_RUN=" + rand.Text()
	return append(env[:len(env):len(env)], mark), func() { killMarked([]byte(mark)) }
}

// killMarked repeats until it finds no more processes, because a process can
// start another one during the search. It gives up after a second, in case the
// kernel cannot end a process.
func killMarked(mark []byte) {
	for range 100 {
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			env, err := os.ReadFile(file) // fails for processes of other users
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
