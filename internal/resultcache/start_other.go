//go:build !linux && !darwin && !windows

package resultcache

import "time"

// processStart reports ok = false: this system has no known way to find the start of the
// process, and without it no answer is cached.
func processStart() (t time.Time, ok bool) { return t, false }
