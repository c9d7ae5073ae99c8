package resultcache

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processStart returns the time when the system started this process, before any of its
// packages could read a file. The result is at most 10 ms early, and never late.
func processStart() (t time.Time, ok bool) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return t, false
	}
	// The program's name, in parentheses, may contain anything. The start time is
	// field 22, in hundredths of a second since the system booted.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const starttime = 22 - 3
	if len(fields) <= starttime {
		return t, false
	}
	ticks, err := strconv.ParseInt(string(fields[starttime]), 10, 64)
	if err != nil {
		return t, false
	}
	var uptime unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &uptime); err != nil {
		return t, false
	}
	age := time.Duration(uptime.Nano()) - time.Duration(ticks)*10*time.Millisecond
	return time.Now().Add(-age), age >= 0
}
