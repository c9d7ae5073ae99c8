package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildRealAssets builds the real control plane, into the user's own store
// so that the suites of generated projects find it and a repeat is instant
// (OPERON_TEST_ENVTEST_STORE names another folder).
func TestBuildRealAssets(t *testing.T) {
	if os.Getenv("OPERON_TEST_ENVTEST") != "1" {
		t.Skip("OPERON_TEST_ENVTEST=1 builds the control plane: minutes the first time")
	}
	t.Parallel()
	env := environ(os.Environ()).with(AssetsVar + "=")
	root := os.Getenv("OPERON_TEST_ENVTEST_STORE")
	var out, again, errs strings.Builder
	o := Options{Env: env, Root: root}
	if err := PrintBuild(t.Context(), o, "", &out, &errs); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	t.Log(errs.String())
	dir := filepath.FromSlash(strings.TrimSpace(out.String()))
	if err := verify(t.Context(), env, t.TempDir(), dir); err != nil {
		t.Error(err)
	}
	if err := PrintPath(o, "", &again); err != nil {
		t.Error(err)
	}
	if again.String() != out.String() {
		t.Errorf("path prints %q, build printed %q", again.String(), out.String())
	}
}
