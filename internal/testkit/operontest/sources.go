package operontest

import (
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/testlog"
)

// RecordSources makes the go command treat the sources of operon as inputs of the tests: it does
// not know which programs a test executes. Call it after m.Run.
func RecordSources() error {
	names, err := sources()
	if err != nil {
		return err
	}
	return testlog.Finish(names...)
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
