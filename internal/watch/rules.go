package watch

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/goenv"
)

// IsSource reports whether the go command reads a file of this name and may answer
// differently when it changes: sources of packages without tests, and files that select
// modules.
func IsSource(file string) bool {
	name := path.Base(file)
	return slices.Contains(moduleFiles, name) || goenv.Source(name) && !strings.HasSuffix(name, "_test.go")
}

var moduleFiles = []string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}

// IsScratch reports whether editors create files of this name next to the edited file:
// unsaved changes, locks, and backups.
func IsScratch(file string) bool {
	name := path.Base(file)
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") || strings.HasSuffix(name, "~")
}

// skipped reports whether to ignore a folder and everything below it. The go command
// ignores hidden folders, bin contains programs, and the list of modules in vendor
// changes whenever vendor does.
func skipped(folder string) bool {
	name := path.Base(folder)
	return folder != "." && (strings.HasPrefix(name, ".") || name == "node_modules" ||
		folder == "bin" || path.Base(path.Dir(folder)) == "vendor")
}
