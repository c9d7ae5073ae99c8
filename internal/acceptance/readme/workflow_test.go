package readme

import (
	"bytes"
	"go/build/constraint"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/repository"
	"go.yaml.in/yaml/v3"
)

// TestWorkflow expects that the jobs of .github/workflows/ci.yml together run `make test-all` for all
// packages with tests for it. ONLY is a part of the path of a package.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs struct {
			Servers struct {
				Strategy struct {
					Matrix struct{ Include []struct{ Only string } }
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(page(t, ".github/workflows/ci.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, job := range workflow.Jobs.Servers.Strategy.Matrix.Include {
		parts = append(parts, strings.Fields(job.Only)...)
	}
	if len(parts) == 0 {
		t.Fatal("the workflow has no jobs with servers")
	}
	tagged := taggedPackages(t, "testall")
	for _, part := range parts {
		if !slices.ContainsFunc(tagged, func(dir string) bool { return strings.Contains(dir, part) }) {
			t.Errorf("make test-all ONLY=%s of .github/workflows/ci.yml has no tests", part)
		}
	}
	for _, dir := range tagged {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(dir, part) }) {
			t.Errorf("no job of .github/workflows/ci.yml tests %s: add it to the jobs", dir)
		}
	}
}

// taggedPackages returns the folders of tests that need a build tag.
func taggedPackages(t *testing.T, tag string) []string {
	t.Helper()
	found := map[string]bool{}
	for _, top := range []string{"cmd", "internal", "plugins"} {
		err := filepath.WalkDir(repository.Path(top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			src, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line, _, _ := bytes.Cut(src, []byte("\n"))
			if expr, err := constraint.Parse(string(line)); err == nil {
				builds := func(more string) bool {
					return expr.Eval(func(tag string) bool { return tag == "linux" || tag == "unix" || tag == more })
				}
				if builds(tag) && !builds("") {
					rel, err := filepath.Rel(repository.Path(), filepath.Dir(name))
					if err != nil {
						return err
					}
					found[filepath.ToSlash(rel)] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(found))
}
