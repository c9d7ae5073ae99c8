package projecttest

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoFiles selects the files that decide the answer of the go command.
func TestGoFiles(t *testing.T) {
	t.Parallel()
	project := map[string]string{
		"go.mod": "module fleet", "go.sum": "", "go.work": "", "go.work.sum": "", "vendor/modules.txt": "",
		"api/v1/types.go": "package v1", "api/v1/types_test.go": "package v1", "add.s": "",
		"config/crd.yaml": "kind: Frigate", "README.md": "", "Makefile": "", "hack/boilerplate.go.txt": "",
	}
	sources := []string{"add.s", "api/v1/types.go", "api/v1/types_test.go", "go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt"}
	all := slices.Sorted(maps.Keys(project))
	for _, tc := range []struct {
		source string
		want   []string
	}{
		{"package v1", sources},
		{"package v1\n\n//go:embed crd.yaml\nvar crd []byte\n", all},
		{"package v1\n\nimport \"C\"\n", all},
	} {
		project["api/v1/types.go"] = tc.source
		got := goFiles(project, func(content string) string { return content })
		if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.source, diff)
		}
	}
}

// TestTestedFiles selects the files that a suite may read.
func TestTestedFiles(t *testing.T) {
	t.Parallel()
	files := map[string]file{}
	tested := []string{"Makefile", "PROJECT", "api/v1/README.md", "config/crd/bases/frigates.yaml", "go.mod", "test/crd/Dockerfile"}
	for _, name := range append([]string{".operon/generated.json", ".github/workflows/test.yml", ".golangci.yml", ".gitignore", "Dockerfile", "AGENTS.md"}, tested...) {
		files[name] = file{}
	}
	if diff := cmp.Diff(tested, slices.Sorted(maps.Keys(testedFiles(files)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
