package incremental

import (
	"path/filepath"
	"sync"

	"github.com/operon-dev/operon/internal/gen/progress"
)

// counted returns a function that reads a file, and reports the number of packages from
// which it has read files.
func counted(report progress.Func, read func(string) ([]byte, error)) func(string) ([]byte, error) {
	var mu sync.Mutex
	folders := map[string]bool{}
	return func(name string) ([]byte, error) {
		mu.Lock()
		folders[filepath.Dir(name)] = true
		n := len(folders)
		mu.Unlock()
		report("reading packages", n, 0)
		return read(name)
	}
}
