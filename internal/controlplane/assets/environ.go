package assets

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// environ is an environment in the form of os.Environ. If a name has several lines,
// the last one counts, as for a child process.
type environ []string

// get returns the value of name, or "".
func (e environ) get(name string) string {
	for _, line := range slices.Backward(e) {
		if k, v, ok := strings.Cut(line, "="); ok && sameName(k, name) {
			return v
		}
	}
	return ""
}

// with returns a copy with lines added, which have the form NAME=value.
func (e environ) with(lines ...string) environ {
	return append(slices.Clone(e), lines...)
}

// sameName compares the names of two variables. Windows ignores their case.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// lookGo returns the path of the go command in PATH, or "". It skips relative entries
// of PATH, because anyone may have put a program into the working folder.
func (e environ) lookGo() string {
	for _, dir := range filepath.SplitList(e.get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, executable("go"))
		if isExecutable(path) == nil {
			return path
		}
	}
	return ""
}
