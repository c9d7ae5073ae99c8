// Package driver makes this program a driver of go/packages that answers with the
// content of a file. Loading packages whose graph is known needs no more than that.
//
// A process that is started with a [Pattern] answers in an init function and exits. That
// is the only init function in this module with an effect: the tests of other packages
// start their own binaries as drivers, before any main function of ours could answer. It
// imports next to nothing, so that it can be initialized early.
package driver

import "os"

const prefix = "operon-replay:"

// Pattern returns the pattern, the driver's only argument, that is answered with the
// content of a file.
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
