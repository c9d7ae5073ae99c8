// Command testprofile runs go test and reports which packages and tests took the most
// time. It prints what go test prints, then the profile, and the failed tests at the end.
//
//	testprofile [-o FILE] [-suite TAG] [-only TEXTS] [FLAG...] PACKAGE...
//
// The other arguments are go test's. With a suite, the tests in files with that build tag run, and no others, in all
// packages that have some. -only keeps packages whose path contains one of several texts. The packages that are
// named start first. The profile has the wall time of all packages
// and tests that ran, and the CPU time of packages that print it. testlog.Main and operontest.Main
// print it, because other programs do most of the work of their tests.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	args := os.Args[1:]
	file, tag, only := option(&args, "-o"), option(&args, "-suite"), option(&args, "-only")
	code, err := 1, error(nil)
	if tag != "" {
		args, err = suite(".", tag, only, args)
	}
	if err == nil {
		code, err = runTests(file, args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testprofile:", err)
		code = 1
	}
	os.Exit(code)
}

// option removes an option from the start of arguments, and returns its value.
func option(args *[]string, name string) string {
	if all := *args; len(all) > 1 && all[0] == name {
		*args = all[2:]
		return all[1]
	}
	return ""
}

// runTests runs go test, prints the profile, writes it to a file if one is named, and
// returns the exit code of go test.
func runTests(file string, args []string) (code int, err error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	signal.Ignore(os.Interrupt) // the terminal sends it to go test, too, which ends the tests
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	p, err := read(events, os.Stdout)
	if err != nil {
		return 0, err
	}
	_ = cmd.Wait() // the exit code reports failed tests
	fmt.Print("\n", p, p.failures())
	if file != "" {
		err = os.WriteFile(file, []byte(p.String()), 0o644)
	}
	return cmd.ProcessState.ExitCode(), err
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds, when the Action ends a test or a package
}

// read reads the events of go test and prints what go test would print without -json.
func read(events io.Reader, out io.Writer) (*profile, error) {
	p := &profile{}
	output := map[[2]string][]string{} // of running tests, by package and test
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(out, "%s", line) // printed by the go command itself
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "run":
			output[key] = []string{} // also of tests that print nothing
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "output":
			output[key] = append(output[key], e.Output)
		case "pass", "fail", "skip":
			if e.Action == "fail" {
				p.fail(e, output)
			}
			p.add(e, output[key])
			if e.Action == "fail" || e.Test == "" {
				printOutput(out, e, output[key])
			}
			delete(output, key)
			if e.Test == "" {
				maps.DeleteFunc(output, func(key [2]string, _ []string) bool { return key[0] == e.Package })
			}
		}
	}
}

// printOutput prints the output of a test or package that fails, and the summary line of
// a package that passes.
func printOutput(out io.Writer, e event, lines []string) {
	for _, line := range lines {
		if e.Action == "fail" && line != "FAIL\n" || strings.HasPrefix(line, "ok ") {
			fmt.Fprint(out, line)
		}
	}
}
