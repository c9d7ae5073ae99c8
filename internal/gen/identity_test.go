package gen_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// TestCorpus compares generated projects with 1 and 50 kinds, and with 600 kinds if
// OPERON_LARGE is set, which takes two minutes.
func TestCorpus(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 50}
	if os.Getenv("OPERON_LARGE") != "" {
		sizes = append(sizes, 600)
	}
	for _, kinds := range sizes {
		dir := gentest.Corpus(t, kinds)
		gentest.SameInBoth(t, dir, gentest.Everything)
	}
}

// TestPublicModules compares public API packages, in the versions that `make modules`
// downloads.
func TestPublicModules(t *testing.T) {
	t.Parallel()
	const all = "crd:allowDangerousTypes=true object rbac:roleName=r webhook"
	modules := []struct {
		version    string
		folder     string
		generators string
	}{
		{"github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0", ".", all},
		{"sigs.k8s.io/cluster-api/api@v1.14.2", ".", all},
		{"sigs.k8s.io/gateway-api@v1.5.0", "apis", all},
		{"github.com/cert-manager/cert-manager@v1.20.2", "pkg/apis", "crd"}, // object rejects one of its interfaces
	}
	for _, m := range modules {
		t.Run(path.Base(m.version), func(t *testing.T) {
			t.Parallel()
			dir := copyModule(t, m.version, m.folder)
			gentest.SameInBoth(t, dir, append(strings.Fields(m.generators), "paths=./...", "output:dir=out"))
			// With other options, generators process other fields.
			gentest.SameInBoth(t, dir, []string{"crd:maxDescLen=80,generateEmbeddedObjectMeta=true,ignoreUnexportedFields=true,allowDangerousTypes=true", "paths=./...", "output:dir=short"})
		})
	}
}

// copyModule copies a folder of a module, with its go.mod, from the module cache.
func copyModule(t *testing.T, version, folder string) string {
	t.Helper()
	find := exec.Command("go", "mod", "download", "-json", version)
	find.Env = append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local")
	out, err := find.Output()
	if err != nil {
		t.Fatalf("%s is not in the module cache: run make modules\n%s", version, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(m.Dir, folder))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		gentest.WriteFile(t, filepath.Join(dir, name), src)
	}
	return dir
}
