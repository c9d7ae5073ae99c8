package gen_test

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"
	"github.com/operon-dev/operon/internal/testkit/modtest"
)

// TestPublicModules compares public API packages, with options with which the generators process other fields than
// by default. In internal/acceptance/generate, TestIdentity compares them with default options.
func TestPublicModules(t *testing.T) {
	t.Parallel()
	for version, folder := range map[string]string{modtest.Monitoring: ".", modtest.ClusterAPI: ".", modtest.GatewayAPI: "apis", modtest.CertManager: "pkg/apis"} {
		t.Run(path.Base(version), func(t *testing.T) {
			t.Parallel()
			dir := copyModule(t, version, folder)
			gentest.SameInBoth(t, dir, []string{"crd:maxDescLen=80,generateEmbeddedObjectMeta=true,ignoreUnexportedFields=true,allowDangerousTypes=true", "paths=./...", "output:dir=short"})
		})
	}
}

// copyModule copies a folder of a module, with its go.mod, from the module cache.
func copyModule(t *testing.T, version, folder string) string {
	t.Helper()
	from, dir := modtest.Dir(t, version), t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(from, folder))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		gentest.WriteFile(t, filepath.Join(dir, name), src)
	}
	return dir
}
