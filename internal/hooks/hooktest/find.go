package hooktest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/testfile"
)

// testDir is the folder of the tests of a project.
const testDir = "test/hooks"

// Find reads the test files that the user names in the working folder. A folder stands
// for all test files in it. Without names, Find reads the test files of the project.
// hooksFolder is the folder of hooks; an error names it if the user names a hook.
func Find(workDir, hooksFolder string, names []string) ([]*File, error) {
	if len(names) == 0 {
		names = []string{filepath.FromSlash(testDir)}
		if _, err := os.Stat(hookproject.Abs(workDir, names[0])); errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Usage(hookproject.OtherFolderHint(workDir, "create a hook with tests: operon create hook; or write them: docs/hook-tests.md"), "there is no folder %s", testDir)
		}
	}
	var files []*File
	for _, name := range names {
		if err := checkIsTestFile(workDir, hooksFolder, name); err != nil {
			return nil, err
		}
		read, err := readAll(hookproject.Abs(workDir, name), filepath.ToSlash(name))
		if err != nil {
			return nil, err
		}
		files = append(files, read...)
	}
	if len(files) == 0 {
		return nil, fault.Usage(testFilesHint(workDir, ""), "there are no tests in %s", filepath.ToSlash(names[0]))
	}
	return files, nil
}

// Match returns the tests whose name in the form hook/name matches a regular expression.
func Match(files []*File, expression string) ([]*Test, error) {
	var all []*Test
	for _, f := range files {
		all = append(all, f.Tests...)
	}
	return testfile.Match(all, (*Test).fullName, expression, "HOOK/NAME")
}

// fullName returns the name in the form hook/name.
func (t *Test) fullName() string { return t.File.subject() + "/" + t.Name }

// Patterns returns a regular expression for each test in the files that the user names,
// for completion. It skips files that it cannot read.
func Patterns(workDir string, names []string) []string {
	if len(names) == 0 {
		names = []string{testDir}
	}
	var patterns []string
	for _, name := range names {
		files, err := readAll(hookproject.Abs(workDir, name), name)
		if err != nil {
			continue
		}
		for _, f := range files {
			for _, t := range f.Tests {
				patterns = append(patterns, testfile.Pattern(t.fullName()))
			}
		}
	}
	return patterns
}

// checkIsTestFile returns an error for a name that is not a test file, such as a hook. It
// accepts a missing file, which Read reports.
func checkIsTestFile(workDir, hooksFolder, name string) error {
	info, err := os.Stat(hookproject.Abs(workDir, name))
	if err == nil && (info.IsDir() || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))) {
		return nil
	}
	if found, findErr := hookproject.Find(workDir, hooksFolder); findErr == nil && found.Has(workDir, name) {
		hook, err := found.Named(workDir, name)
		if err != nil {
			return err
		}
		return fault.Usage(testFilesHint(workDir, hook.Name), "%s is a hook, not a test file", name)
	}
	if err == nil {
		return fault.Usage(testFilesHint(workDir, ""), "%s is not a test file: test files are YAML", name)
	}
	return nil
}

// testFilesHint returns a hint that names the test files of a hook, or of all hooks if
// hook is empty.
func testFilesHint(workDir, hook string) string {
	files, err := readAll(hookproject.Abs(workDir, testDir), testDir)
	if err != nil {
		return formatHint
	}
	var names []string
	for _, f := range files {
		if f.Hook == hook {
			names = append(names, f.Path)
		}
	}
	switch {
	case len(names) > 0:
		return "to run its tests: operon hooks test " + strings.Join(names, " ")
	case len(files) > 0 && hook == "":
		return "the tests are in " + testDir + ": operon hooks test"
	}
	return formatHint
}
