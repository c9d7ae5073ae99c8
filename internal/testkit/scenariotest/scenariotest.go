// Package scenariotest follows the walk-throughs in testdata/scenarios. Each is a folder: the
// file commands has the command lines of the user, and the folder edits has the files that
// the user changes.
package scenariotest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// Edit is the line in commands where the user's edits are applied.
const Edit = "EDIT"

// Path returns the path of a file of a scenario.
func Path(scenario, file string) string {
	return repository.Path("testdata", "scenarios", scenario, file)
}

// Commands returns the command lines of a scenario as words.
func Commands(scenario string) ([][]string, error) {
	return operontest.Commands(Path(scenario, "commands"))
}

// ApplyEdits copies the user's files over a project.
func ApplyEdits(dir, scenario string) error {
	edits := Path(scenario, "edits")
	return filepath.WalkDir(edits, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(edits, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.WriteFile(to, content, info.Mode().Perm())
	})
}

// Follow runs all commands of a scenario in a new folder and returns what the last one
// prints. The user's hooks must have the configuration of the hooks that they replace.
func Follow(t testing.TB, dir, scenario string) (out string) {
	t.Helper()
	treetest.MakeDir(t, dir)
	commands, err := Commands(scenario)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range commands {
		if words[0] != Edit {
			out = operontest.Exec(t, dir, words[0], words[1:]...)
			continue
		}
		before := hookConfigs(t, dir)
		if err := ApplyEdits(dir, scenario); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, hookConfigs(t, dir)); diff != "" {
			t.Errorf("the edits change the configuration of hooks (-created +edited):\n%s", diff)
		}
	}
	return out
}

// hookConfigs returns the configurations that the hooks of a project print, by file.
func hookConfigs(t testing.TB, dir string) map[string]string {
	t.Helper()
	hooks, err := filepath.Glob(filepath.Join(dir, "hooks", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	configs := map[string]string{}
	for _, hook := range hooks {
		configs[filepath.Base(hook)] = operontest.Exec(t, dir, hook, "--config")
	}
	return configs
}
