// Package repository finds the files of this repository for tests, whichever folder
// they run in.
package repository

import (
	"os"
	"path/filepath"
	"sync"
)

// Path returns the absolute path of a file or folder, given the parts of its path below
// the root of the repository. It panics outside the repository, where no test can run.
func Path(parts ...string) string {
	return filepath.Join(append([]string{root()}, parts...)...)
}

// root is the nearest parent of the working folder that holds testdata/peers. A go.mod
// does not identify it: tests have modules of their own.
var root = sync.OnceValue(func() string {
	start, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "peers", "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("no repository of operon above " + start)
		}
	}
})
