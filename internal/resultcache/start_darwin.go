package resultcache

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// processStart returns the time when the system started this process, before any of its
// packages could read a file.
func processStart() (t time.Time, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return t, false
	}
	start := info.Proc.P_starttime
	return time.Unix(start.Unix()), true
}
