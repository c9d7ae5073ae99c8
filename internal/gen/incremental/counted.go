package incremental

import (
	"path/filepath"
	"sync"

	"github.com/operon-dev/operon/internal/gen/progress"
)

// counted is read, which tells how many packages were read from so far.
func counted(say progress.Func, read func(string) ([]byte, error)) func(string) ([]byte, error) {
	var mu sync.Mutex
	folders := map[string]bool{}
	return func(name string) ([]byte, error) {
		mu.Lock()
		folders[filepath.Dir(name)] = true
		n := len(folders)
		mu.Unlock()
		say("reading packages", n, 0)
		return read(name)
	}
}
