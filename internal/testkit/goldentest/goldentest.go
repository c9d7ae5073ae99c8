// Package goldentest finds the golden projects in testdata/golden. NAME.commands holds
// the command lines that create a project, and the folder NAME the resulting tree.
package goldentest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/repository"
)

// Dir returns the folder of a golden project.
func Dir(name string) string { return repository.Path("testdata", "golden", name) }

// CommandsFile returns the file with the command lines that create a golden project.
func CommandsFile(name string) string { return Dir(name) + ".commands" }

// IsGo reports whether a golden project is in Go. The others consist of hooks or charts.
func IsGo(name string) bool {
	_, err := os.Stat(filepath.Join(Dir(name), "go.mod"))
	return err == nil
}

// HasCharts reports whether a golden project consists of Helm charts.
func HasCharts(name string) bool {
	_, err := os.Stat(filepath.Join(Dir(name), "watches.yaml"))
	return err == nil
}

// Names lists the golden projects.
func Names(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(CommandsFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden projects: %v", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".commands"))
	}
	return names
}
