package sequences

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"sigs.k8s.io/yaml"
)

// TestRandomBundles changes random values of the manifests of a project. What bundle generate writes, bundle validate passes. If
// it refuses a value, it writes nothing.
func TestRandomBundles(t *testing.T) {
	t.Parallel()
	dir := operontest.InitProject(t)
	operontest.Run(t, dir, "edit", "--plugins", "olm")
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false")
	operontest.Run(t, dir, "create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting")
	var files []string
	err := fs.WalkDir(os.DirFS(dir), "config", func(name string, d fs.DirEntry, err error) error {
		content, unreadable := os.ReadFile(filepath.Join(dir, name))
		if unreadable == nil && filepath.Ext(name) == ".yaml" && !bytes.Contains(content, []byte("\n---\n")) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for seed := uint64(1230); seed < 1360; seed++ { // some of these have found mistakes
		r := rand.New(rand.NewPCG(seed, 5))
		file := filepath.Join(dir, files[r.IntN(len(files))])
		before, err := os.ReadFile(file)
		var object any
		if err = errors.Join(err, yaml.Unmarshal(before, &object)); err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(changedValue(r, object))
		if err != nil {
			t.Fatal(err)
		}
		treetest.WriteFile(t, file, string(text))
		if err := os.RemoveAll(filepath.Join(dir, "bundle")); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		run := func(args ...string) int { return operontest.Do(dir, operontest.Environ(), &out, &out, args...) }
		if run("bundle", "generate", "--version", "0.1.0", "--image", "registry.example.org/fleet:v0.1.0") == 0 {
			accepted++
			if code := run("bundle", "validate"); code != 0 {
				t.Errorf("seed %d, %s: bundle validate refuses what bundle generate writes:\n%s\n%s", seed, file, out.String(), text)
			}
		} else {
			refused++
			if _, err := os.Stat(filepath.Join(dir, "bundle")); err == nil || !strings.Contains(out.String(), "hint:") {
				t.Errorf("seed %d, %s: a refused bundle is written, or there is no hint:\n%s\n%s", seed, file, out.String(), text)
			}
		}
		treetest.WriteFile(t, file, string(before))
	}
	if accepted < 20 || refused < 20 {
		t.Errorf("%d accepted, %d refused: this compares little", accepted, refused)
	}
}

// changedValue changes or removes one value in a value at random.
func changedValue(r *rand.Rand, in any) any {
	switch v := in.(type) {
	case map[string]any:
		if len(v) > 0 && r.IntN(10) > 0 {
			keys := slices.Sorted(maps.Keys(v))
			key := keys[r.IntN(len(keys))]
			if r.IntN(10) == 0 {
				delete(v, key)
			} else {
				v[key] = changedValue(r, v[key])
			}
			return v
		}
	case []any:
		if len(v) > 0 && r.IntN(10) > 0 {
			i := r.IntN(len(v))
			v[i] = changedValue(r, v[i])
			return v
		}
	}
	values := []any{"x", "", "A_b", 1, 4.5, true, nil, []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1}}
	return values[r.IntN(len(values))]
}
