// Package testlog changes the log from which the go command learns what a test read.
//
// The go command takes a test's result from its cache until a file, folder or variable in the
// log changes. The log has a line for each call: "getenv NAME", "chdir DIR", "stat NAME" or
// "open NAME". A test binary writes it to the file in -test.testlogfile.
package testlog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// head is the first line of a log.
const head = "# test log\n"

// Main runs the tests of a package that reads very many files or runs other programs, prints the CPU time, looks for unused
// answers, and finishes the log.
func Main(m *testing.M) {
	code := answers.Finish(m.Run())
	if flag.Lookup("test.list").Value.String() == "" {
		PrintCPU()
	}
	if err := Finish(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Finish adds files and folders that other programs read to the log of this process, and
// removes repeated lines and those about files outside the module. The go command ignores these files, too,
// but only after it has followed the symbolic links of each name: a log with two million names of
// temporary files took it 80 seconds.
//
// Call Finish after m.Run: only then is the log complete.
func Finish(inputs ...string) error {
	file := flag.Lookup("test.testlogfile").Value.String()
	if file == "" { // the test binary was started by hand
		return nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	log, found := strings.CutPrefix(string(content), head)
	if !found {
		return fmt.Errorf("%s begins with %.20q, want %q: the go command has another format now", file, log, head)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, name := range inputs {
		log += "open " + name + "\n"
	}
	return os.WriteFile(file, []byte(head+compact(log, dir, outside)), 0o644)
}

// compact removes lines that repeat a line, and those about ignored files. dir is the working
// directory before the first line.
func compact(log, dir string, ignored func(name string) bool) string {
	var b strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(log) {
		op, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch op {
		case "chdir":
			dir = name
			clear(seen) // relative names are others now
		case "stat", "open":
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			if ignored(name) {
				continue
			}
		}
		if !seen[line] {
			seen[line] = true
			b.WriteString(line)
		}
	}
	return b.String()
}

// outside reports whether an absolute name means a file outside the module, whose folder can have a
// second name without symbolic links.
func outside(name string) bool {
	return !inside(name, repository.Path()) && !inside(name, resolvedRepository())
}

var resolvedRepository = sync.OnceValue(func() string {
	dir, err := filepath.EvalSymlinks(repository.Path())
	if err != nil {
		return repository.Path()
	}
	return dir
})

func inside(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
