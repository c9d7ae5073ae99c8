//go:build !unix

package testlog

// PrintCPU does nothing on systems that do not know the CPU time of child processes.
func PrintCPU() {}
