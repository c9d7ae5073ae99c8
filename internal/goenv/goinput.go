// Package goenv knows what the go command reads as it lists packages: which
// files by their names, and which variables of the environment. It is the one
// place that says so, for those who want to know whether an answer still stands.
// It imports next to nothing, so that a program can ask before it starts.
package goenv

import (
	"slices"
	"strings"
)

// extensions are those of Go, and of what it compiles by way of cgo and SWIG.
var extensions = []string{
	".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90",
	".s", ".S", ".sx", ".swig", ".swigcxx", ".syso",
}

// Source reports whether a file of that name, without folders, can be a source of
// a package or of its tests. The go command passes over names that begin with a
// dot or an underscore, which also what editors put beside a file does.
func Source(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return false
	}
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) })
}

// variables are those that neither begin with GO nor with CGO_.
var variables = []string{
	"CC", "CXX", "FC", "AR", "PKG_CONFIG", "GCCGO", // is there a compiler for cgo?
	"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "APPDATA", // where its settings are
	"PATH", "PATHEXT", // which go command, which compiler
}

// Variable reports whether the go command, or Go's runtime, reads the variable of
// the environment. Windows ignores the case of names.
func Variable(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || slices.Contains(variables, name)
}
