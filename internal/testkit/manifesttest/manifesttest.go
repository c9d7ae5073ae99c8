// Package manifesttest reads manifests in tests: YAML files, values in them, and what
// kustomize builds.
package manifesttest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// ReadYAML returns the content of a YAML file as maps, lists and scalars.
func ReadYAML(t testing.TB, name string) any {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Lookup returns the value at a dotted path as text. Numbers in the path index lists.
func Lookup(v any, path string) (value string, found bool) {
	for key := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			child, ok := node[key]
			if !ok {
				return "", false
			}
			v = child
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(node) {
				return "", false
			}
			v = node[i]
		default:
			return "", false
		}
	}
	return fmt.Sprint(v), true
}

// Kustomize returns the objects that kustomize builds from a folder.
func Kustomize(t testing.TB, dir string) resmap.ResMap {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", dir, err)
	}
	if objects.Size() == 0 {
		t.Errorf("kustomize builds no objects from %s", dir)
	}
	return objects
}
