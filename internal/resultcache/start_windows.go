package resultcache

import (
	"time"

	"golang.org/x/sys/windows"
)

// processStart returns the time when the system started this process, before any of its
// packages could read a file.
func processStart() (t time.Time, ok bool) {
	var start, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &start, &exit, &kernel, &user); err != nil {
		return t, false
	}
	return time.Unix(0, start.Nanoseconds()), true
}
