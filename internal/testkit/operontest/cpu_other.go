//go:build !unix

package operontest

// PrintCPU does nothing on systems that do not know the CPU time of child processes.
func PrintCPU() {}
