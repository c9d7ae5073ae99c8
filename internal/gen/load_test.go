package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/request"
)

// TestConfiguredModMod checks that go.mod stays unchanged if the go command's settings
// file contains -mod=mod.
func TestConfiguredModMod(t *testing.T) {
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} { // the file may set them too
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, strings.TrimSpace(string(out)))
	}
	settings := filepath.Join(t.TempDir(), "env")
	gentest.WriteFile(t, settings, []byte("GOFLAGS=-mod=mod\n"))
	t.Setenv("GOENV", settings)
	t.Setenv("GOFLAGS", "")
	dir := gentest.Zoo(t) // whose go.mod has wrong "// indirect" comments, which -mod=mod mends
	before := gentest.Tree(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: []string{"crd", "paths=./api/..."}}, gentest.NewPlan(t, dir)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, gentest.Tree(t, dir)); diff != "" {
		t.Errorf("planning changed the disk:\n%s", diff)
	}
}

// TestWorkspace generates in a module of a workspace, where the flag -mod=mod is not
// allowed.
func TestWorkspace(t *testing.T) {
	dir := gentest.Zoo(t)
	work := filepath.Join(t.TempDir(), "go.work")
	gentest.WriteFile(t, work, []byte("go 1.26.0\n\nuse "+filepath.ToSlash(dir)+"\n"))
	t.Setenv("GOWORK", work)
	for _, goFlags := range []string{"", "-mod=mod"} {
		t.Setenv("GOFLAGS", goFlags)
		if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: []string{"crd", "paths=./api/aqua/..."}}, gentest.NewPlan(t, dir)); err != nil {
			t.Errorf("GOFLAGS=%s: %v", goFlags, err)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(work), "go.work.sum")); err == nil {
		t.Error("planning wrote go.work.sum")
	}
}
