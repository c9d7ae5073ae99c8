package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/operon-dev/operon/internal/gen/request"
)

// inputsOf generates with args in dir, and returns the inputs of the plan.
func inputsOf(t *testing.T, dir string, args ...string) (paths []string, ok bool) {
	t.Helper()
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: args}, p); err != nil {
		t.Fatal(err)
	}
	in, ok := p.Inputs()
	return in.Sources, ok
}

// unlikely are files that do not exist, in folders in which they would matter.
const unlikely = `
-- hack/boilerplate.go.txt --
// Ours.
-- api/excluded/file.go --
//go:build never

package excluded
-- api/aqua/v1alpha1/fish_test.go --
package v1alpha1
-- api/aqua/v1alpha1/table.txt --
It could be embedded.
-- testdata/other/file.go --
package ignored
`

func TestInputs(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t, unlikely)
	args := []string{"rbac:roleName=r,headerFile=hack/boilerplate.go.txt", "paths=./api/aqua/..."}
	got, ok := inputsOf(t, dir, args...)
	if !ok {
		t.Fatal("unknown")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goRoot := strings.TrimSpace(string(out))
	for _, name := range []string{
		"go.mod", "go.sum", "go.work", "../go.work", "vendor", "vendor/modules.txt",
		".", "api", "api/excluded", "api/aqua/v1alpha1", "hack", "testdata/other",
		"api/excluded/file.go", "api/aqua/v1alpha1/fish_test.go", "api/aqua/v1alpha1/table.txt", "hack/boilerplate.go.txt",
		filepath.Join(here, "inflections.json"), filepath.Join(here, "acronyms.json"),
		filepath.Join(goRoot, "VERSION"),
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, filepath.FromSlash(name))
		}
		if !slices.Contains(got, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"testdata/other/file.go", ".git"} {
		if slices.Contains(got, filepath.Join(dir, filepath.FromSlash(name))) {
			t.Errorf("%s is not an input", name)
		}
	}
	for _, suffix := range []string{"/k8s.io/apimachinery@", "/bin/go", "/gopackagesdriver", "/go/env"} {
		if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(filepath.ToSlash(p), suffix) }) {
			t.Errorf("no input ends in %s", suffix)
		}
	}
	for _, p := range got {
		if strings.HasPrefix(p, filepath.Join(goRoot, "src")) {
			t.Errorf("%s cannot change and is not an input", p)
		}
	}
}

// TestInputsElsewhere covers replacements of other modules.
func TestInputsElsewhere(t *testing.T) {
	other := t.TempDir()
	gentest.WriteFile(t, filepath.Join(other, "go.mod"), []byte("module example.com/other\n\ngo 1.26.0\n"))
	gentest.WriteFile(t, filepath.Join(other, "deep", "lib", "lib.go"), []byte("package lib\n"))
	const user = "-- api/uses/uses.go --\npackage uses\n\nimport _ \"example.com/other/deep/lib\"\n"
	want := []string{"go.mod", "deep", "deep/lib", "deep/lib/lib.go"}
	check := func(dir string) {
		t.Helper()
		got, ok := inputsOf(t, dir, "rbac:roleName=r", "paths=./api/uses")
		for _, name := range want {
			if !ok || !slices.Contains(got, filepath.Join(other, filepath.FromSlash(name))) {
				t.Errorf("%s is missing, %v", name, ok)
			}
		}
	}

	dir := gentest.Zoo(t, user)
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	gentest.WriteFile(t, filepath.Join(dir, "go.mod"), []byte(string(goMod)+
		"\nrequire example.com/other v0.0.0\n\nreplace example.com/other => "+filepath.ToSlash(other)+"\n"))
	check(dir)

	dir = gentest.Zoo(t, user)
	work := filepath.Join(t.TempDir(), "go.work")
	gentest.WriteFile(t, work, []byte("go 1.26.0\n\nuse (\n\t"+filepath.ToSlash(dir)+"\n\t"+filepath.ToSlash(other)+"\n)\n"))
	t.Setenv("GOWORK", work)
	t.Setenv("GOFLAGS", "-trimpath -mod=readonly -ldflags=-w")
	check(dir)
}

// TestInputsOfModules covers paths that reach several modules.
func TestInputsOfModules(t *testing.T) {
	t.Parallel()
	const nested = "-- api/aqua/deep/go.mod --\nmodule example.com/deep\n\ngo 1.26\n-- api/aqua/deep/deep.go --\npackage deep\n-- api/aqua/deep/lib/lib.go --\npackage lib\n"
	dir := gentest.Zoo(t, nested)
	got, ok := inputsOf(t, dir, "rbac:roleName=r", "paths=./api/aqua/...")
	for _, name := range []string{"go.mod", "api/aqua/v1alpha1", "api/aqua/deep", "api/aqua/deep/go.mod", "api/aqua/deep/go.sum", "api/aqua/deep/lib/lib.go", "api/aqua/deep/vendor"} {
		if !ok || !slices.Contains(got, filepath.Join(dir, filepath.FromSlash(name))) {
			t.Errorf("%s is missing, %v", name, ok)
		}
	}
	if got, ok := inputsOf(t, dir, "rbac:roleName=r", "paths=./api/aqua/deep/..."); !ok || !slices.Contains(got, filepath.Join(dir, "api", "aqua", "deep", "go.mod")) {
		t.Error("the go.mod of a module below the root is missing")
	}
}

// TestInputsUnknown covers cases in which inputs are unknown.
func TestInputsUnknown(t *testing.T) {
	args := []string{"rbac:roleName=r", "paths=./api/aqua/..."}
	dir := gentest.Zoo(t)
	t.Run("import path", func(t *testing.T) {
		if _, ok := inputsOf(t, dir, "rbac:roleName=r", "paths=example.com/zoo/api/aqua/v1alpha1"); ok {
			t.Error("inputs are known for an import path")
		}
	})
	t.Run("planned", func(t *testing.T) {
		p := gentest.NewPlan(t, dir)
		if err := p.Share("api/aqua/v1alpha1/more.go", 0o644, []byte("package v1alpha1\n")); err != nil {
			t.Fatal(err)
		}
		if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: args}, p); err != nil {
			t.Fatal(err)
		}
		if _, ok := p.Inputs(); ok {
			t.Error("inputs are known with a planned file")
		}
	})
	t.Run("flags", func(t *testing.T) {
		gentest.WriteFile(t, filepath.Join(dir, "other.mod"), []byte(gentest.Tree(t, dir)["go.mod"]))
		gentest.WriteFile(t, filepath.Join(dir, "other.sum"), []byte(gentest.Tree(t, dir)["go.sum"]))
		t.Setenv("GOFLAGS", "-modfile=other.mod")
		if _, ok := inputsOf(t, dir, args...); ok {
			t.Error("inputs are known with -modfile")
		}
	})
	if runtime.GOOS == "windows" {
		return // a link needs a privilege there, and a script another name
	}
	t.Run("link", func(t *testing.T) {
		outside := t.TempDir()
		gentest.WriteFile(t, filepath.Join(outside, "linked.go"), []byte("package linked\n"))
		if err := os.Symlink(outside, filepath.Join(dir, "linked")); err != nil {
			t.Fatal(err)
		}
		if _, ok := inputsOf(t, dir, "rbac:roleName=r", "paths=./linked"); ok {
			t.Error("inputs are known behind a link")
		}
	})
	t.Run("script", func(t *testing.T) {
		program, err := exec.LookPath("go")
		if err != nil {
			t.Fatal(err)
		}
		bin := t.TempDir()
		script := filepath.Join(bin, "go")
		gentest.WriteFile(t, script, []byte("#!/bin/sh\nexec "+program+" \"$@\"\n"))
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		if _, ok := inputsOf(t, dir, args...); ok {
			t.Error("inputs are known for a script, which may read any file")
		}
	})
}

// TestInputsCompiler uses a C compiler that is not looked up in PATH.
func TestInputsCompiler(t *testing.T) {
	compiler := filepath.Join(t.TempDir(), "cc")
	t.Setenv("CC", compiler+" -m64")
	if got, ok := inputsOf(t, gentest.Zoo(t), "rbac:roleName=r", "paths=./api/aqua/..."); !ok || !slices.Contains(got, compiler) {
		t.Errorf("%s is missing, %v", compiler, ok)
	}
}
