package gen

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/corpus"
)

// everything has the arguments in the Makefile of a scaffolded project, for one run and
// one output folder.
var everything = []string{"crd", "object", "rbac:roleName=manager-role", "webhook", "paths=./...", "output:dir=out", "output:object:artifacts:config=out"}

// sameInBoth compares with controller-gen for the project in dir.
func sameInBoth(t *testing.T, dir string, args []string) {
	t.Helper()
	before := tree(t, dir)
	got, _ := byUs(t, dir, args)
	if len(got) == 0 {
		t.Fatal("nothing was generated")
	}
	if _, stderr, err := runCLI(t, dir, args...); err != nil {
		t.Fatalf("controller-gen %v: %v\n%s", args, err, stderr)
	}
	after := tree(t, dir)
	for name, content := range got {
		if after[name] != content {
			t.Errorf("%s (-controller-gen +operon):\n%s", name, cmp.Diff(after[name], content))
		}
		delete(after, name)
	}
	for name, content := range after {
		if before[name] != content {
			t.Errorf("only controller-gen wrote %s", name)
		}
	}
}

// TestCorpus compares generated projects with 1 and 50 kinds, and with 600 kinds if
// OPERON_LARGE is set, which takes two minutes.
func TestCorpus(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 50}
	if os.Getenv("OPERON_LARGE") != "" {
		sizes = append(sizes, 600)
	}
	for _, kinds := range sizes {
		dir := writeCorpus(t, kinds)
		sameInBoth(t, dir, everything)
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
			sameInBoth(t, dir, append(strings.Fields(m.generators), "paths=./...", "output:dir=out"))
			// With other options, generators process other fields.
			sameInBoth(t, dir, []string{"crd:maxDescLen=80,generateEmbeddedObjectMeta=true,ignoreUnexportedFields=true,allowDangerousTypes=true", "paths=./...", "output:dir=short"})
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
		writeFile(t, filepath.Join(dir, name), src)
	}
	return dir
}

// writeCorpus writes a corpus with the go.mod of a scaffolded project.
func writeCorpus(tb testing.TB, kinds int) string {
	tb.Helper()
	dir := tb.TempDir()
	files, err := corpus.Files(kinds)
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile("../../testdata/golden/fleet/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		files[name] = bytes.Replace(src, []byte("module example.org/fleet\n"), []byte("module "+corpus.Repo+"\n"), 1)
	}
	for name, src := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, src, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
