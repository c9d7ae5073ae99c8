package operontest

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/testkit/repository"
)

// RecordSources makes the go command treat the sources of operon as inputs of the tests. The
// go command takes a test's result from its cache until a file or folder that the test read
// changes, but it does not know which programs a test executes.
//
// Call it after m.Run: only then is the log complete. The log is a file with a line for
// each name that a test opens; the go command names it in -test.testlogfile.
func RecordSources() error {
	log := flag.Lookup("test.testlogfile").Value.String()
	if log == "" { // the test binary was started by hand
		return nil
	}
	const head = "# test log\n"
	content, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(content), head) {
		return fmt.Errorf("%s begins with %.20q, want %q: the go command has another format now", log, content, head)
	}
	sources, err := sources()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	for _, name := range sources {
		if _, err := fmt.Fprintf(file, "open %s\n", name); err != nil {
			return err
		}
	}
	return file.Close()
}

// notCompiled are folders whose files are not compiled into operon.
var notCompiled = []string{"testdata", "acceptance", "bench", "e2e", "testkit"}

// sources lists go.mod, go.sum and the folders that operon is built from. Of a folder,
// the go command looks at the names, sizes and times of all files in it.
func sources() ([]string, error) {
	names := []string{repository.Path("go.mod"), repository.Path("go.sum")}
	for _, top := range []string{"cmd", "internal", "plugins", "templates"} {
		err := filepath.WalkDir(repository.Path(top), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return err
			case slices.Contains(notCompiled, d.Name()):
				return fs.SkipDir
			}
			names = append(names, name)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
