package gen_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// TestMakefile generates in projects whose Makefile calls controller-gen.
func TestMakefile(t *testing.T) {
	t.Parallel()
	const (
		manifests = "rbac:roleName=manager-role crd webhook paths=./... output:crd:artifacts:config=config/crd/bases\n"
		object    = "\tcontroller-gen object:headerFile=./hack/boilerplate.go.txt,year=$(YEAR) paths=./...\nYEAR ?= $(shell date +%Y)\n"
		all       = "all:\n\tcontroller-gen "
	)
	configured := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []any{"crd", "paths=./..."}}}}
	other := &project.Config{Plugins: map[string]any{"other.example.com/v1": map[string]any{"key": "value"}}}
	tests := []struct {
		name, makefile string
		request        request.Request
		files          map[string]string
		differ         string   // in the error; "" for none
		hint           []string // lines of the hint
	}{
		{name: "no Makefile"},
		{name: "no controller-gen", makefile: "all:\n\tgo build ./...\n"},
		{name: "the defaults", makefile: all + manifests + object},
		{name: "options of old versions", makefile: all + strings.Replace(manifests, "crd ", "crd:trivialVersions=true,preserveUnknownFields=false ", 1) + object},
		{name: "options that change nothing", makefile: all + strings.Replace(manifests, "crd ", "crd:crdVersions=v1,ignoreUnexportedFields=true ", 1) + object},
		{name: "folders with the same kinds", makefile: all + "crd paths=./api/... output:crd:dir=config/crd/bases\n"},
		{name: "a generator that the Makefile does not run", makefile: all + "crd paths=./... output:crd:dir=config/crd/bases\n"},
		{
			name: "another role", makefile: all + strings.Replace(manifests, "manager-role", "manager", 1) + object,
			differ: "config/rbac/role.yaml",
			hint: []string{"add the arguments to PROJECT:", "plugins:", "  generate.operon.dev/v1:", "    args:", "    - rbac:roleName=manager", "    - crd",
				"    - output:crd:artifacts:config=config/crd/bases", "    - webhook", "    - paths=./...", "    - object:headerFile=./hack/boilerplate.go.txt,year=2026"},
		},
		{
			name: "another option of CRDs", makefile: all + strings.Replace(manifests, "crd ", "crd:maxDescLen=0 ", 1),
			request: request.Request{Project: other, Only: []string{"crd"}}, differ: "config/crd/bases/",
			hint: []string{"add the arguments to plugins in PROJECT:", "  generate.operon.dev/v1:", "    - crd:maxDescLen=0"},
		},
		{name: "another generator than the selected one", makefile: all + strings.Replace(manifests, "crd ", "crd:maxDescLen=0 ", 1) + object,
			request: request.Request{Only: []string{"rbac"}}},
		{name: "another folder", makefile: all + "crd paths=./... output:crd:dir=deploy\n", differ: "config/crd/bases/",
			hint: []string{"    - output:crd:dir=deploy"}},
		{name: "PROJECT has arguments", makefile: all + "crd:maxDescLen=0 paths=./...\n", request: request.Request{Project: configured}},
		{name: "the request has arguments", makefile: all + "crd:maxDescLen=0 paths=./...\n", request: request.Request{Args: []string{"crd", "paths=./..."}}},
		{name: "a call that is not understood, and no files", makefile: all + "crd paths=$(shell pwd -P)\n"},
		{
			name: "a call that is not understood, and other files", makefile: all + "crd paths=$(shell pwd -P)\n",
			files:  map[string]string{"config/rbac/role.yaml": "---\nkind: ClusterRole\n"},
			differ: "Makefile:2: operon does not understand this call of controller-gen, and would generate other content for config/rbac/role.yaml",
			hint:   []string{"write the arguments to PROJECT, such as", "    - rbac:roleName=manager-role"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t)
			if tt.makefile != "" {
				gentest.WriteFile(t, filepath.Join(dir, "Makefile"), []byte(tt.makefile))
			}
			for name, content := range tt.files {
				gentest.WriteFile(t, filepath.Join(dir, name), []byte(content))
			}
			tt.request.Dir, tt.request.ThisYear = dir, "2026"
			p := gentest.NewPlan(t, dir)
			err := gen.Plan(t.Context(), tt.request, p)
			if tt.differ == "" {
				if err != nil {
					t.Fatalf("%v\n%s", err, fault.HintOf(err))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.differ) || fault.Code(err) != fault.CodeUsage {
				t.Fatalf("got %v, want an error about %s", err, tt.differ)
			}
			if len(p.Changes()) > 0 {
				t.Error("the plan has changes")
			}
			for _, line := range tt.hint {
				if !strings.Contains("\n"+fault.HintOf(err)+"\n", "\n"+line+"\n") {
					t.Errorf("the hint lacks %q:\n%s", line, fault.HintOf(err))
				}
			}
		})
	}
	t.Run("sources that need an option", func(t *testing.T) {
		t.Parallel()
		dir := gentest.Zoo(t, "-- api/v1/float.go --\npackage v1\n\n// LionSize is not exact.\ntype LionSize float64\n")
		gentest.Replace(t, filepath.Join(dir, "api/v1/lion_types.go"), "type LionSpec struct {", "type LionSpec struct {\n\tSize LionSize `json:\"size\"`\n")
		err := gen.Plan(t.Context(), request.Request{Dir: dir}, gentest.NewPlan(t, dir))
		if !errors.As(err, new(gen.Problems)) {
			t.Fatalf("got %v, want an error in the sources", err)
		}
		gentest.WriteFile(t, filepath.Join(dir, "Makefile"), []byte(all+"crd:allowDangerousTypes=true paths=./...\n"))
		err = gen.Plan(t.Context(), request.Request{Dir: dir, Only: []string{"crd"}}, gentest.NewPlan(t, dir))
		if err == nil || !strings.Contains(fault.HintOf(err), "- crd:allowDangerousTypes=true") {
			t.Errorf("got %v\n%s", err, fault.HintOf(err))
		}
	})
}
