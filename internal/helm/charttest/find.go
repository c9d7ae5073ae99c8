package charttest

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Find reads test files and all test files below folders. abs makes a path absolute.
func Find(names []string, abs func(string) string) ([]*File, error) {
	var files []*File
	for _, name := range names {
		info, err := os.Stat(abs(name))
		if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(filepath.ToSlash(name), Dir) {
			return nil, fault.Usage("name test files, or write one there: docs/chart-tests.md describes them", "there is no folder %s", name)
		}
		if err == nil && !info.IsDir() && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			return nil, fault.Usage(formatHint, "%s is not a test file: test files are YAML", name)
		}
		read, err := testfile.ReadAll(abs(name), filepath.ToSlash(name), readFile)
		if err != nil {
			return nil, err
		}
		files = append(files, read...)
	}
	if len(files) == 0 {
		return nil, fault.Usage(formatHint, "there are no tests in %s", filepath.ToSlash(names[0]))
	}
	return files, nil
}

// Tests returns the tests of files.
func Tests(files []*File) []*Test {
	var all []*Test
	for _, f := range files {
		all = append(all, f.Tests...)
	}
	return all
}

// Check returns an error for a file about a kind that the operator does not have, or for a test without
// a custom resource of that kind.
func (op Operator) Check(files []*File) error {
	var names []string
	for _, c := range op.Charts {
		names = append(names, c.Watch.Kind)
	}
	for _, f := range files {
		i := slices.IndexFunc(op.Charts, func(c Chart) bool { return f.isAbout(c.Watch) })
		if i < 0 {
			hint := "kinds: " + strings.Join(names, ", ")
			if near := fault.Nearest(f.Kind, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fault.Usage(hint, "%s:%d: %s has no kind %s", f.Path, f.Line, watches.File, f.Kind)
		}
		w := op.Charts[i].Watch
		for _, t := range f.Tests {
			if !slices.ContainsFunc(t.objects(), func(o *unstructured.Unstructured) bool {
				c := op.chartOf(o)
				return c >= 0 && f.isAbout(op.Charts[c].Watch)
			}) {
				return fault.Usage("add one to given or events, with apiVersion: "+apiVersion(w), "%s:%d: the test %q has no object of kind %s", f.Path, t.Line, t.Name, f.Kind)
			}
		}
	}
	return nil
}

// isAbout reports whether a file has tests of the kind of a watch.
func (f *File) isAbout(w watches.Watch) bool { return f.Kind == w.Kind || f.Kind == w.Kind+"."+w.Group }

// apiVersion returns the API version of the kind of a watch.
func apiVersion(w watches.Watch) string { return strings.TrimPrefix(w.Group+"/"+w.Version, "/") }

// Patterns returns a regular expression for each test in files and folders, for completion. It skips
// files that it cannot read.
func Patterns(names []string, abs func(string) string) []string {
	files, _ := Find(names, abs)
	var patterns []string
	for _, t := range Tests(files) {
		patterns = append(patterns, testfile.Pattern(t.FullName()))
	}
	slices.SortStableFunc(patterns, cmp.Compare)
	return patterns
}
