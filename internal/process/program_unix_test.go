//go:build unix

package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestWriteProgram starts programs right after they are written, while others are started.
func TestWriteProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for j := range 50 {
				path := filepath.Join(dir, fmt.Sprintf("program-%d-%d", i, j))
				if err := WriteProgram(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Error(err)
				}
				if err := exec.Command(path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
}
