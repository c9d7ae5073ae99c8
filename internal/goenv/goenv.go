// Package goenv defines what the go command reads when it lists packages: the names of
// source files, and environment variables. Code that caches answers of the go command
// depends on these lists.
package goenv

import (
	"bytes"
	"go/build"
	"io"
	"path"
	"slices"
	"strings"
)

// extensions are the extensions of Go files, and of files that cgo and SWIG compile.
var extensions = []string{
	".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90",
	".s", ".S", ".sx", ".swig", ".swigcxx", ".syso",
}

// Source reports whether a file with this base name can be a source of a package
// or of its tests. The go command ignores names that begin with a dot or an
// underscore, such as the swap files of editors.
func Source(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return false
	}
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) })
}

// Ignores reports whether patterns of the go command match no packages in a folder with this base name.
func Ignores(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor"
}

// variables are the variables that do not begin with GO or CGO_.
var variables = []string{
	"CC", "CXX", "FC", "AR", "PKG_CONFIG", "GCCGO", // compilers for cgo
	"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "APPDATA", // locations of its settings
	"PATH", "PATHEXT", // locations of the go command and of compilers
}

// Variable reports whether the go command or Go's runtime reads the environment
// variable. The case of the name does not matter, as on Windows.
func Variable(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || slices.Contains(variables, name)
}

// Builds reports whether the go command compiles a Go file, which can also be a test, for Linux and without tags. A file
// that does not parse counts as one.
func Builds(name string, src []byte) bool {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled, context.BuildTags = "linux", "amd64", true, nil
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	match, err := context.MatchFile(path.Split(name))
	return match || err != nil
}
