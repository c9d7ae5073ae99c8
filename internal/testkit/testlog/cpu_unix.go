//go:build unix

package testlog

import (
	"fmt"
	"syscall"
	"time"
)

// PrintCPU prints the CPU time of this process and of the programs that it ran, for the
// command testprofile. CPU time hardly depends on what else the machine does.
func PrintCPU() {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			return
		}
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	fmt.Printf("CPU: %.1f s\n", total.Seconds())
}
