// Package lazyregexp compiles regular expressions of packages when they are first used.
// Compiling them when the program starts would take time in each run.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles expr on its first call. The function panics if expr
// is invalid, and is safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
