package gen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfiguredModMod leaves go.mod alone where the go command's own file of
// settings asks for -mod=mod.
func TestConfiguredModMod(t *testing.T) {
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} { // the file may set them too
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, strings.TrimSpace(string(out)))
	}
	settings := filepath.Join(t.TempDir(), "env")
	writeFile(t, settings, []byte("GOFLAGS=-mod=mod\n"))
	t.Setenv("GOENV", settings)
	t.Setenv("GOFLAGS", "")
	dir := fixture(t, "zoo") // whose go.mod has wrong "// indirect" comments, which -mod=mod mends
	before := tree(t, dir)
	if err := Plan(t.Context(), Request{Dir: dir, Args: []string{"crd", "paths=./api/..."}}, newPlan(t, dir)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("planning touched the disk:\n%s", diff)
	}
}

// TestWorkspace generates in a module of a workspace, where -mod=mod is no
// legal flag.
func TestWorkspace(t *testing.T) {
	dir := fixture(t, "zoo")
	work := filepath.Join(t.TempDir(), "go.work")
	writeFile(t, work, []byte("go 1.26.0\n\nuse "+filepath.ToSlash(dir)+"\n"))
	t.Setenv("GOWORK", work)
	for _, goFlags := range []string{"", "-mod=mod"} {
		t.Setenv("GOFLAGS", goFlags)
		if err := Plan(t.Context(), Request{Dir: dir, Args: []string{"crd", "paths=./api/aqua/..."}}, newPlan(t, dir)); err != nil {
			t.Errorf("GOFLAGS=%s: %v", goFlags, err)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(work), "go.work.sum")); err == nil {
		t.Error("planning wrote go.work.sum")
	}
}

func TestRewritesGoMod(t *testing.T) {
	t.Parallel()
	for goFlags, want := range map[string]bool{
		"":                                false,
		"\n":                              false,
		"-mod=mod\n":                      true,
		"-v --mod=mod -tags=x":            true,
		`-tags=x '-mod=mod'`:              true,
		"-mod=vendor":                     false,
		"-mod=readonly":                   false,
		"-modfile=go.tools.mod -tags=mod": false,
	} {
		if got := rewritesGoMod(goFlags); got != want {
			t.Errorf("%q: %v", goFlags, got)
		}
	}
}

// TestRelativeTo has the paths of Windows as well, on every system.
func TestRelativeTo(t *testing.T) {
	t.Parallel()
	tests := []struct{ root, separator, msg, want string }{
		{"/p", "/", "/p/api/v1/x.go:3:1: expected 'x'", "api/v1/x.go:3:1: expected 'x'"},
		{"/p", "/", "/q/x.go: /p/y.go", "/q/x.go: y.go"},
		{`C:\p`, `\`, `C:\p\api\v1\x.go:3:1: invalid escape '\q'`, `api/v1/x.go:3:1: invalid escape '\q'`},
		{`C:\p`, `\`, `found packages v1 (a.go) and v2 (b.go) in C:\p\api\my v1`, `found packages v1 (a.go) and v2 (b.go) in api/my v1`},
		{`C:\p`, `\`, `open "C:\p\a\b": C:\p\c\d, C:\q\e`, `open "a/b": c/d, C:\q\e`},
		{`C:\p`, `\`, "C:\\p\\a\\b\r\nx\\y", "a/b\r\nx\\y"},
	}
	for _, tt := range tests {
		if got := relativeTo(tt.root, tt.separator, tt.msg); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.msg, got, tt.want)
		}
	}
}
