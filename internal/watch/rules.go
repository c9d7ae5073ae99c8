package watch

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/goenv"
)

// IsSource reports whether the go command looks at a file of this name and may
// answer differently when it changes: sources of packages, without their tests,
// and what says which modules they are from.
func IsSource(file string) bool {
	name := path.Base(file)
	return slices.Contains(moduleFiles, name) || goenv.Source(name) && !strings.HasSuffix(name, "_test.go")
}

var moduleFiles = []string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}

// IsScratch reports whether editors keep a file of this name beside the one that
// they edit: what is not saved yet, locks, and what was there before.
func IsScratch(file string) bool {
	name := path.Base(file)
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") || strings.HasSuffix(name, "~")
}

// skipped reports whether a folder and all below it are of no interest: the go
// command does not look into hidden ones, bin holds programs, and of vendor the
// list of modules tells when anything in it changes.
func skipped(folder string) bool {
	name := path.Base(folder)
	return folder != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || folder == "bin" || path.Base(path.Dir(folder)) == "vendor")
}
