package assets

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// environ is an environment in the form of os.Environ. The last of several
// lines for one name counts, as it does for a child process.
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

// with returns a copy in which the names of the given lines have these values.
func (e environ) with(lines ...string) environ {
	return append(slices.Clone(e), lines...)
}

// sameName compares names of variables; Windows ignores their case.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// lookGo returns the go command on the environment's PATH, or "". Relative
// entries are skipped: a command found in the working folder may be anybody's.
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
