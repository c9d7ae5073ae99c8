// Package memory sets when Go collects garbage. The program lives for a short time and creates much
// garbage. The user's GOGC and GOMEMLIMIT take precedence.
//
// The package is initialized before most others, because it imports almost nothing and because of its
// import path: Go sorts packages that are ready by path. With Go's defaults, three collections run
// while the others are initialized, a quarter of the time of a command with nothing to do. Only
// speed depends on the order.
package memory

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// beforeFirst postpones the first collection until the heap has 192 MB, 48 times 4 MB: an edit of
	// a module of usual size causes none.
	beforeFirst = 4800
	// afterFirst makes generating a fifth faster than Go's 100.
	afterFirst = 400
	// limit in bytes increases garbage collection before the peak memory reaches the peak of
	// controller-gen, with hundreds of kinds.
	limit = 1200 << 20
)

func init() { configure(os.Getenv) }

func configure(getenv func(string) string) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	if getenv("GOGC") == "" {
		debug.SetGCPercent(beforeFirst)
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) { debug.SetGCPercent(afterFirst) })
	}
}
