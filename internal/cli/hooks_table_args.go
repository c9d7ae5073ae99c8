package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// isNoTest says what an argument is that names no tests: a hook, most likely.
func (o *hooksTest) isNoTest(a *command.App, arg string) error {
	info, err := os.Stat(inDir(a, arg))
	if err == nil && (info.IsDir() || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg))) {
		return nil
	}
	where, findErr := o.find(a)
	i := -1
	if findErr == nil {
		i = hookNamed(a, where.all, arg)
	}
	switch {
	case i >= 0:
		return fault.Usage(testsOf(a, where.all[i].Name), "%s is a hook, and no file of tests", arg)
	case err == nil:
		return fault.Usage(testsOf(a, ""), "%s is no file of tests: those are in YAML", arg)
	}
	return nil // that it is not there is said when it is read
}

// testsOf is a hint about where the project has tests of a hook; of all, with "".
func testsOf(a *command.App, hook string) string {
	files, err := hooktest.ReadAll(inDir(a, rbac.TestDir), rbac.TestDir)
	var names []string
	for _, f := range files {
		if f.Hook == hook {
			names = append(names, f.Path)
		}
	}
	switch {
	case err == nil && len(names) > 0:
		return "it is tested with operon hooks test " + strings.Join(names, " ")
	case err == nil && len(files) > 0 && hook == "":
		return "the tests are in " + rbac.TestDir + ": operon hooks test"
	}
	return "operon hooks test --help tells how to write them"
}
