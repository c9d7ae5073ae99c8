package gen_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// sharedCage is a planned edit of a package that API packages import.
const sharedCage = `// Package shared has types of no group.
package shared

// Cage is a type.
// +kubebuilder:object:generate=true
type Cage struct {
	// Height in metres, planned.
	Height *int64 ` + "`json:\"height\"`" + `
}

// Box has a cage.
type Box[T any] struct{ Value T }
`

// TestPlannedSources compares a run over planned files with a run over the same files on
// the disk.
func TestPlannedSources(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		write map[string]string
		drop  []string
		args  []string
		want  string // a file that must come out of it, or with "!" must not
	}{
		{name: "new file", write: map[string]string{"api/v1/tiger_types.go": gentest.Tiger}, want: "config/crd/bases/zoo.example.com_tigers.yaml"},
		{name: "new folder", write: map[string]string{
			"apis/cats/v1/group.go":       "// +kubebuilder:object:generate=true\n// +groupName=cats.example.com\npackage v1\n",
			"apis/cats/v1/tiger_types.go": strings.Replace(gentest.Tiger, "LionSpec", "v1.LionSpec", 1) + "\n",
			"apis/cats/v1/dummy.go":       "package v1\n",
		}, want: "config/crd/bases/cats.example.com_tigers.yaml"},
		{name: "paths into a new folder", args: []string{"paths=./apis/..."}, write: map[string]string{
			"apis/cats/v1/group.go":       "// +kubebuilder:object:generate=true\n// +groupName=cats.example.com\npackage v1\n",
			"apis/cats/v1/tiger_types.go": strings.Replace(gentest.Tiger, "Spec LionSpec", "Size int", 1),
		}, want: "config/crd/bases/cats.example.com_tigers.yaml"},
		{name: "edited dependency", args: []string{"paths=./api/v1"}, write: map[string]string{"internal/shared/shared.go": sharedCage}, want: "config/crd/bases/zoo.example.com_lions.yaml"},
		{name: "removed package", drop: []string{"api/aqua/v1alpha1/fish_types.go"}, want: "!config/crd/bases/aqua.example.com_nfs.yaml"},
		{name: "removed file", drop: []string{"api/v2/lion_types.go"}, want: "!api/v2/zz_generated.deepcopy.go"},
		{name: "planned header", write: map[string]string{"hack/boilerplate.go.txt": "// Planned YEAR.\r\n"}, want: "api/v1/zz_generated.deepcopy.go"},
		{name: "empty file", write: map[string]string{"internal/shared/doc.go": "package shared"}, want: "config/rbac/role.yaml"},
	}
	keep := store.Open(t.TempDir())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if src, ok := tt.write["apis/cats/v1/tiger_types.go"]; ok && strings.Contains(src, "v1.LionSpec") {
				tt.write["apis/cats/v1/tiger_types.go"] = strings.Replace(src, "\n// Tiger", "\nimport v1 \"example.com/zoo/api/v1\"\n\n// Tiger", 1)
			}
			onDisk := gentest.Zoo(t)
			for name, content := range tt.write {
				gentest.WriteFile(t, filepath.Join(onDisk, name), []byte(strings.ReplaceAll(content, "\r", "")))
			}
			for _, name := range tt.drop {
				if err := os.Remove(filepath.Join(onDisk, name)); err != nil {
					t.Fatal(err)
				}
			}
			r := request.Request{Dir: onDisk, Args: tt.args, ThisYear: "2042"}
			want := gentest.NewPlan(t, onDisk)
			if err := gen.Plan(t.Context(), r, want); err != nil {
				t.Fatal(err)
			}

			r.Dir, r.Store = gentest.Zoo(t), keep
			if err := gen.Plan(t.Context(), r, gentest.NewPlan(t, r.Dir)); err != nil && tt.args == nil {
				t.Fatal(err)
			}
			p := gentest.NewPlan(t, r.Dir) // generated from the record of the plan above, where there is one
			for name, content := range tt.write {
				if p.Exists(name) {
					replace(t, p, name, content)
				} else if err := p.Seed(name, 0o644, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range tt.drop {
				if err := p.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			before := gentest.Tree(t, r.Dir)
			if err := gen.Plan(t.Context(), r, p); err != nil {
				t.Fatal(err)
			}
			got := gentest.Generated(p)
			if diff := cmp.Diff(gentest.Generated(want), got); diff != "" {
				t.Errorf("(-on disk +planned):\n%s", diff)
			}
			if diff := cmp.Diff(before, gentest.Tree(t, r.Dir)); diff != "" {
				t.Errorf("planning changed the disk:\n%s", diff)
			}
			name, absent := strings.CutPrefix(tt.want, "!")
			if _, ok := got[name]; ok == absent {
				t.Errorf("%s is an output: %v; all outputs: %v", name, ok, slices.Sorted(maps.Keys(got)))
			}
		})
	}
}

func replace(t *testing.T, p *scaffold.Plan, name, content string) {
	t.Helper()
	if err := p.Edit(name, func([]byte) ([]byte, error) { return []byte(content), nil }); err != nil {
		t.Fatal(err)
	}
}

// TestPlannedErrors expects the positions of errors in planned files to be in the
// project and not in a temporary folder.
func TestPlannedErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, content, want string }{
		{"syntax", "api/v1/tiger.go", "package v1\n\nfunc {\n", "api/v1/tiger.go:3:6: expected 'IDENT', found '{'"},
		{"import", "api/v1/tiger.go", "package v1\n\nimport \"nosuch/pkg\"\n", "api/v1/tiger.go:3:8: package nosuch/pkg is not in std"},
		{"syntax in a new folder", "apis/v3/tiger.go", "package v3\n\nvar x = = 1\n", "apis/v3/tiger.go:3:9: expected operand, found '='"},
		{"go.mod", "go.mod", "module example.com/zoo\n\nbogus\n", "go.mod:3: unknown directive: bogus"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t)
			p := gentest.NewPlan(t, dir)
			if p.Exists(tt.file) {
				replace(t, p, tt.file, tt.content)
			} else if err := p.Seed(tt.file, 0o644, []byte(tt.content)); err != nil {
				t.Fatal(err)
			}
			err := gen.Plan(t.Context(), request.Request{Dir: dir}, p)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), os.TempDir()) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if n := len(p.Changes()); n != 1 {
				t.Errorf("%d changes, want only the planned file", n)
			}
		})
	}
}

// TestPlannedGoMod expects the planned go.mod and go.sum to be used, not those on the
// disk.
func TestPlannedGoMod(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	files := gentest.Tree(t, dir)
	gentest.WriteFile(t, filepath.Join(dir, "go.mod"), []byte("module example.com/zoo\n\ngo 1.26\n"))
	if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil {
		t.Fatal(err)
	}
	err := gen.Plan(t.Context(), request.Request{Dir: dir}, gentest.NewPlan(t, dir))
	if fault.Code(err) != fault.CodeFailed || fault.HintOf(err) != "go mod tidy" {
		t.Fatalf("without requirements: %v, hint %q", err, fault.HintOf(err))
	}
	p := gentest.NewPlan(t, dir)
	replace(t, p, "go.mod", files["go.mod"])
	if err := p.Seed("go.sum", 0o644, []byte(files["go.sum"])); err != nil {
		t.Fatal(err)
	}
	if err := gen.Plan(t.Context(), request.Request{Dir: dir}, p); err != nil {
		t.Fatal(err)
	}
	if len(gentest.Generated(p)) < 5 {
		t.Errorf("generated %v", slices.Sorted(maps.Keys(gentest.Generated(p))))
	}
}

// TestMissingModules expects a hint if the module cache is empty.
func TestMissingModules(t *testing.T) {
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod")
	dir := gentest.Zoo(t)
	before := gentest.Tree(t, dir)
	p := gentest.NewPlan(t, dir)
	err := gen.Plan(t.Context(), request.Request{Dir: dir}, p)
	if fault.Code(err) != fault.CodeFailed || fault.HintOf(err) != "go mod download" {
		t.Errorf("error %v\nhint %q", err, fault.HintOf(err))
	}
	if msg := err.Error(); strings.Contains(msg, "\n") || !strings.Contains(msg, "the module of this import is not in the module cache") {
		t.Errorf("error %q, want one line that names what is missing", msg)
	}
	if diff := cmp.Diff(before, gentest.Tree(t, dir)); diff != "" || len(p.Changes()) > 0 {
		t.Errorf("changes %v, disk:\n%s", p.Changes(), diff)
	}
}

// TestNoGo expects an error if there is no go command.
func TestNoGo(t *testing.T) {
	dir := gentest.Zoo(t)
	t.Setenv("PATH", t.TempDir())
	err := gen.Plan(t.Context(), request.Request{Dir: dir}, gentest.NewPlan(t, dir))
	if err == nil || err.Error() != "the go command is not in PATH" || fault.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}

// TestCancelled expects the cause of the context as the error.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := gentest.Zoo(t)
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(ctx, request.Request{Dir: dir}, p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(p.Changes()) > 0 {
		t.Errorf("planned %v", p.Changes())
	}
}

// TestConfiguredProject takes the arguments from PROJECT.
func TestConfiguredProject(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{
		"args": []any{"crd:maxDescLen=0", "object", "output:crd:dir=manifests", "paths=./api/aqua/..."},
	}}}
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Only: []string{"crd", "rbac"}}, p); err != nil {
		t.Fatal(err)
	}
	want := []string{"manifests/aqua.example.com_nfs.yaml"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(gentest.Generated(p)))); diff != "" {
		t.Error(diff)
	}
}
