package bundle

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadFolder reads links to files, and the tests in whatever folder the annotations name.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"manifests/role.yaml":       "kind: Role",
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.test.config.v1: tests/custom/}",
		"tests/custom/config.yaml":  "kind: Configuration",
		"crd.yaml":                  "kind: CustomResourceDefinition",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../crd.yaml", filepath.Join(folder, "manifests", "crd.yaml")); err != nil {
		t.Fatal(err)
	}
	files, err := ReadFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"manifests/crd.yaml", "manifests/role.yaml", "metadata/annotations.yaml", "tests/custom/config.yaml"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Error(diff)
	}
	if got := string(files["manifests/crd.yaml"]); got != "kind: CustomResourceDefinition" {
		t.Errorf("the link has %q", got)
	}
}

// TestDockerfileWithOtherTests copies the folder with the tests that the labels name.
func TestDockerfileWithOtherTests(t *testing.T) {
	src := NewDockerfile("bundle", map[string]string{testConfigKey: "tests/custom/"})
	if want := "\nCOPY bundle/tests/custom /tests/custom/\n"; !bytes.Contains(src, []byte(want)) {
		t.Errorf("no %q in:\n%s", want, src)
	}
}
