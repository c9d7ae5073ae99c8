//go:build testall

package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// TestApplyConfigurationsOfEditedPackage edits a package, and expects that other outputs than its own are not needed again.
func TestApplyConfigurationsOfEditedPackage(t *testing.T) {
	t.Parallel()
	dir, cache := gentest.Zoo(t, applied), t.TempDir()
	args := []string{"applyconfiguration", "paths=./..."}
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": args}}}
	r := request.Request{Dir: dir, Project: cfg, Store: store.Open(cache), Program: gentest.Program(t)}
	if err := gen.Plan(t.Context(), r, gentest.NewPlan(t, dir)); err != nil {
		t.Fatal(err)
	}
	r.Program = "" // all must come from the store
	if err := gen.Plan(t.Context(), r, gentest.NewPlan(t, dir)); err != nil {
		t.Error(err)
	}
	gentest.Replace(t, filepath.Join(dir, "api/v5/doc.go"), "\t// Arms", "\t// Legs are new.\n\tLegs int `json:\"legs\"`\n\t// Arms")
	if gen.Plan(t.Context(), r, gentest.NewPlan(t, dir)) == nil {
		t.Error("outputs of the earlier sources are used")
	}
}

// TestApplyConfigurationsOfPlannedSource generates from a source that is only planned, with its comments.
func TestApplyConfigurationsOfPlannedSource(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t, applied)
	const source = "api/parts/parts.go"
	content, err := os.ReadFile(filepath.Join(dir, source))
	if err == nil {
		err = os.Remove(filepath.Join(dir, source))
	}
	if err != nil {
		t.Fatal(err)
	}
	planned := strings.Replace(string(content), "\tHard bool", "\t// Hard bones break.\n\tHard bool", 1)
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []string{"applyconfiguration", "paths=./..."}}}}
	p := gentest.NewPlan(t, dir)
	if err := p.Seed(source, 0o644, []byte(planned)); err != nil {
		t.Fatal(err)
	}
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Program: gentest.Program(t)}, p); err != nil {
		t.Fatal(err)
	}
	const output = "api/v4/applyconfiguration/api/v4/quill.go"
	if got := gentest.Generated(p)[output]; !strings.Contains(got, "\t// Hard bones break.\n\tHard ") {
		t.Errorf("%s:\n%s", output, got)
	}
}

// TestApplyConfigurationsFail expects the errors that controller-gen prints, or one of operon's own.
func TestApplyConfigurationsFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, new, want string }{
		"syntax":    {"Arms int ", "Arms int int ", "api/v5/doc.go:22:"},
		"no group":  {"// +groupName=sea.example.com\n// +versionName", "// +versionName", "could not infer groupVersion"},
		"elsewhere": {"package=../clients", "package=../../../clients", "api/v5/doc.go: the folder ../../../clients of +kubebuilder:ac:output:package is outside the project"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t, applied)
			gentest.Replace(t, filepath.Join(dir, "api/v5/doc.go"), tt.old, tt.new)
			cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []string{"applyconfiguration", "paths=./api/v5"}}}}
			err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Program: gentest.Program(t)}, gentest.NewPlan(t, dir))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
