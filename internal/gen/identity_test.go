package gen_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"
	"github.com/operon-dev/operon/internal/testkit/modtest"
)

// TestPublicModules compares public API packages: with the generators that most projects use, and with options with which
// CRDs have other fields.
func TestPublicModules(t *testing.T) {
	t.Parallel()
	const usual = "crd:allowDangerousTypes=true rbac:roleName=manager-role webhook object paths=./..."
	for _, tt := range []struct {
		version, args string
		folders       []string
	}{
		{modtest.Monitoring, usual, []string{"."}},
		{modtest.ClusterAPI, usual, []string{"."}},
		{modtest.GatewayAPI, usual, []string{"apis"}},
		{modtest.Kueue, usual, []string{"apis", "pkg/features", "pkg/resources", "pkg/util/math", "pkg/util/tas"}},
		{modtest.CertManager, "crd paths=./...", []string{"pkg/apis"}}, // the generator object refuses an interface in it
	} {
		t.Run(path.Base(tt.version), func(t *testing.T) {
			t.Parallel()
			dir := copyModule(t, tt.version, tt.folders)
			gentest.SameInBoth(t, dir, strings.Fields(tt.args))
			gentest.SameInBoth(t, dir, []string{"crd:maxDescLen=80,generateEmbeddedObjectMeta=true,ignoreUnexportedFields=true,allowDangerousTypes=true", "paths=./...", "output:dir=short"})
		})
	}
}

// copyModule copies folders of a module, with its go.mod, from the module cache.
func copyModule(t *testing.T, version string, folders []string) string {
	t.Helper()
	from, dir := modtest.Dir(t, version), t.TempDir()
	for _, folder := range folders {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(from, folder))); err != nil {
			t.Fatal(err)
		}
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
