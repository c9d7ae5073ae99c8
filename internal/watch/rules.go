package watch

import (
	"path"
	"slices"
	"strings"
)

// IsSource reports whether the go command looks at a file of this name and may
// answer differently when it changes: sources of packages, without their tests,
// and what says which modules they are from.
func IsSource(file string) bool {
	name := path.Base(file)
	switch {
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"): // also what editors put beside a file
		return false
	case strings.HasSuffix(name, "_test.go"):
		return false
	case slices.Contains(moduleFiles, name):
		return true
	}
	return slices.Contains(extensions, path.Ext(name))
}

var moduleFiles = []string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}

// extensions are those of Go, and of what it compiles by way of cgo.
var extensions = []string{".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".s", ".S", ".sx", ".f", ".F", ".for", ".f90", ".swig", ".swigcxx", ".syso"}

// skipped reports whether a folder and all below it are of no interest: the go
// command does not look into hidden ones, bin holds programs, and of vendor the
// list of modules tells when anything in it changes.
func skipped(folder string) bool {
	name := path.Base(folder)
	return folder != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || folder == "bin" || path.Base(path.Dir(folder)) == "vendor")
}
