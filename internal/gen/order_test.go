package gen_test

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// order has the packages below this folder. None imports one that follows it.
var order = []string{
	"store", "progress", "overlay", "controllertools", "calls", "stripbodies", // what others use
	"request", "projectcopy", // what to generate
	"record", "depcache", // what is kept between runs
	"load/driver", "load/golist", "load/folders", "load", "listing", // packages
	"generate/marker", "generate", "output", // results
	"incremental", "applyconfig", "othertools", "foreign", // all steps
	".",
}

// TestImportDirection allows no import from a lower package to a higher one, and no two folders that import each other.
func TestImportDirection(t *testing.T) {
	t.Parallel()
	const prefix = "github.com/operon-dev/operon/internal/gen"
	pairs := map[[2]string]bool{} // of folders, the one that imports first
	err := filepath.WalkDir(".", func(dir string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		pkg, err := build.ImportDir(dir, 0)
		if _, none := err.(*build.NoGoError); none { //nolint:errorlint // go/build does not wrap it
			return nil
		}
		if err != nil {
			return err
		}
		from := slices.Index(order, filepath.ToSlash(dir))
		if from < 0 {
			t.Errorf("the order lacks %s", dir)
		}
		for _, path := range pkg.Imports {
			name, ours := strings.CutPrefix(path, prefix)
			if !ours {
				continue
			}
			name = strings.TrimPrefix(name+"/", "/")
			if to := slices.Index(order, filepath.ToSlash(filepath.Clean(name))); to >= from {
				t.Errorf("%s imports %s, which is a later step", dir, name)
			}
			here, _, _ := strings.Cut(filepath.ToSlash(dir), "/")
			there, _, _ := strings.Cut(name, "/")
			if pairs[[2]string{there, here}] && here != there {
				t.Errorf("%s and %s import each other", here, there)
			}
			pairs[[2]string{here, there}] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
