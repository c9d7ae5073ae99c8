// Package driver makes this program a driver of go/packages that answers with
// what it is told: linked into a binary, it takes over a process that is
// started with a [Pattern], before main. Loading packages from a graph that is
// known already takes no more then.
//
// It knows nothing of packages. And it imports next to nothing: Go initialises
// packages in the order of their paths as soon as their imports are, so that
// this one is before others that take milliseconds.
package driver

import "os"

const prefix = "operon-replay:"

// Pattern is the pattern, the driver's only argument, that a file's content is
// the answer to. The file is one that this user can read.
func Pattern(file string) string { return prefix + file }

func init() {
	if len(os.Args) != 2 || len(os.Args[1]) < len(prefix) || os.Args[1][:len(prefix)] != prefix {
		return
	}
	answer, err := os.ReadFile(os.Args[1][len(prefix):])
	if err == nil {
		_, err = os.Stdout.Write(answer)
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}
