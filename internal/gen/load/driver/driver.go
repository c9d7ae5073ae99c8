// Package driver makes go/packages load a graph of packages that is known already. go/packages runs a driver, a
// program that prints the graph. Here, that is a program that prints a file.
package driver

import (
	"io"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/input"
)

// file is the name of the file with the graph. A driver runs in the folder of the file, with the name as its only
// argument: the loader takes an argument with a folder for the path of a package.
const file = "operon-packages.json"

// cat prints a file in a quarter of the time that this program needs to start. All systems but Windows have it, and
// almost all at this path.
const cat = "/bin/cat"

// Driver is a driver of go/packages that prints the same content each time.
type Driver struct {
	Dir     string // the folder to run it in
	Program string
	Pattern string // its only argument
}

// New writes the content to a file in a folder, and returns the driver that prints it. self is the path of operon,
// which is the driver where cat is missing.
func New(dir, self string, content []byte) (*Driver, error) {
	if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
		return nil, err
	}
	program := cat
	if _, err := os.Stat(cat); err != nil {
		program = self
	}
	return &Driver{Dir: dir, Program: program, Pattern: file}, nil
}

// Answer reports whether the arguments make this process a driver. If so, it has printed the file in the working folder
// of this process to out, and the caller exits. err is the error of that.
func Answer(args []string, out io.Writer) (answered bool, err error) {
	if len(args) != 1 || args[0] != file {
		return false, nil
	}
	content, err := input.ReadFile(file, input.Catalog)
	if err == nil {
		_, err = out.Write(content)
	}
	return true, err
}
