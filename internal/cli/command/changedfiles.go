package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/watch"
)

// ChangedFiles names a few files that a watch of the working folder has reported, or counts many. It
// omits those that an editor removes when it saves another.
func (a *App) ChangedFiles(paths []string) string {
	const few = 3
	exist := slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		_, err := os.Lstat(a.Path(filepath.FromSlash(name)))
		return err != nil
	})
	if len(exist) > 0 {
		paths = exist
	}
	switch {
	case slices.Contains(paths, watch.Everything):
		return "many files"
	case len(paths) > few:
		return Files(len(paths))
	}
	return strings.Join(paths, ", ")
}
