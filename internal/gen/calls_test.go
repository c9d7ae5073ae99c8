package gen_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/gentest"
	"sigs.k8s.io/yaml"
)

const (
	manifests = "rbac:roleName=manager-role crd webhook paths=./... output:crd:artifacts:config=config/crd/bases\n"
	object    = "\tcontroller-gen object:headerFile=./hack/boilerplate.go.txt,year=$(YEAR) paths=./...\nYEAR ?= $(shell date +%Y)\n"
	all       = "all:\n\tcontroller-gen "
	lion      = "zoo.example.com_lions.yaml"
)

// TestProjectCalls generates in projects whose files call controller-gen.
func TestProjectCalls(t *testing.T) {
	t.Parallel()
	defaults := generated(t, request.Request{Dir: gentest.Zoo(t)})
	configured := func(key string, value any) *project.Config {
		return &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{key: value}}}
	}
	charts := []any{
		map[string]any{"args": []any{"crd", "paths=./api/v1", "output:crd:dir=charts/a"}},
		map[string]any{"args": []any{"crd", "paths=.", "output:crd:dir=../../charts/b"}, "dir": "api/v1"},
	}
	tests := []struct {
		name    string
		files   map[string]string
		request request.Request
		same    bool     // the outputs are equal to the outputs with the defaults
		paths   []string // some of the outputs
		missing []string // no outputs, though the defaults have them
	}{
		{name: "no files", same: true},
		{name: "no controller-gen", files: map[string]string{"Makefile": "all:\n\tgo build ./...\n"}, same: true},
		{name: "the defaults", files: map[string]string{"Makefile": all + manifests + object}, same: true},
		{name: "options of old versions", same: true,
			files: map[string]string{"Makefile": all + strings.Replace(manifests, "crd ", "crd:trivialVersions=true,preserveUnknownFields=false ", 1) + object}},
		{name: "options that change nothing", same: true,
			files: map[string]string{"Makefile": all + strings.Replace(manifests, "crd ", "crd:crdVersions=v1,ignoreUnexportedFields=true ", 1) + object}},
		{name: "another folder", files: map[string]string{"Makefile": all + "crd paths=./... output:crd:dir=deploy\n"},
			paths: []string{"deploy/" + lion}, missing: []string{"config/crd/bases/" + lion, "config/rbac/role.yaml"}},
		{name: "two folders", files: map[string]string{"Makefile": all + "crd paths=./api/... output:crd:dir=a\n\tcd api && controller-gen crd paths=./... output:crd:dir=../b\n"},
			paths: []string{"a/" + lion, "b/" + lion}, missing: []string{"config/crd/bases/" + lion}},
		{name: "a folder outside the project", same: true,
			files: map[string]string{"Makefile": all + manifests + object + "verify:\n\tcontroller-gen crd:maxDescLen=0 paths=./... output:crd:dir=/tmp/crds\n"}},
		{name: "another generator than the selected one", request: request.Request{Only: []string{"rbac"}},
			files: map[string]string{"Makefile": all + "crd paths=./... output:crd:dir=deploy\n\tcontroller-gen rbac:roleName=r paths=./...\n"},
			paths: []string{"config/rbac/role.yaml"}, missing: []string{"config/crd/bases/" + lion}},
		{name: "a script", files: map[string]string{"hack/gen.sh": "controller-gen crd paths=./api/... output:dir=deploy\n"},
			paths: []string{"deploy/" + lion}, missing: []string{"config/rbac/role.yaml"}},
		{name: "a go:generate comment", files: map[string]string{"api/gen.go": "package api\n\n//go:generate controller-gen crd paths=./... output:dir=../deploy\n"},
			paths: []string{"deploy/" + lion}},
		{name: "PROJECT has arguments", files: map[string]string{"Makefile": all + "crd:maxDescLen=0 paths=./... output:dir=x\n"},
			request: request.Request{Project: configured("args", []any{"crd", "paths=./...", "output:dir=y"})}, paths: []string{"y/" + lion}},
		{name: "PROJECT has calls", request: request.Request{Project: configured("calls", charts)}, paths: []string{"charts/a/" + lion, "charts/b/" + lion}},
		{name: "the request has arguments", request: request.Request{Args: []string{"crd", "paths=./...", "output:dir=y"}},
			files: map[string]string{"Makefile": all + "crd paths=$(shell cat paths)\n"}, paths: []string{"y/" + lion}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t)
			for name, content := range tt.files {
				gentest.WriteFile(t, filepath.Join(dir, name), []byte(content))
			}
			tt.request.Dir = dir
			got := generated(t, tt.request)
			if tt.same {
				if diff := cmp.Diff(defaults, got); diff != "" {
					t.Errorf("(-defaults +got):\n%s", diff)
				}
			}
			for _, name := range tt.paths {
				if got[name] == "" {
					t.Errorf("%s is not generated, only %q", name, slices.Sorted(maps.Keys(got)))
				}
			}
			for _, name := range tt.missing {
				if got[name] != "" {
					t.Errorf("%s is generated", name)
				}
			}
		})
	}
}

// generated returns the files that a request generates.
func generated(t *testing.T, r request.Request) map[string]string {
	t.Helper()
	r.ThisYear = "2026"
	p := gentest.NewPlan(t, r.Dir)
	if err := gen.Plan(t.Context(), r, p); err != nil {
		t.Fatalf("%v\n%s", err, fault.HintOf(err))
	}
	files := map[string]string{}
	for _, c := range p.Changes() {
		files[c.Path] = string(c.After)
	}
	return files
}

// pasted returns PROJECT with the lines of a hint.
func pasted(t *testing.T, hint string, c *project.Config) *project.Config {
	t.Helper()
	what, lines, _ := strings.Cut(hint, "\n")
	before := ""
	switch {
	case strings.Contains(what, request.ConfigKey):
		before = "plugins:\n  " + request.ConfigKey + ":\n    " + request.ToolsKey + ": " + request.OwnTools + "\n"
	case strings.Contains(what, "plugins in"):
		before = "plugins:\n"
	}
	res := &project.Config{}
	if c != nil {
		*res = *c
		res.Plugins = maps.Clone(c.Plugins) // other tests have the same map
	}
	if err := yaml.Unmarshal([]byte(before+lines), res); err != nil {
		t.Fatalf("%v\n%s", err, before+lines)
	}
	return res
}

// TestRefusedCalls tests calls that operon does not run: the error, and the lines for PROJECT.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	other := &project.Config{Plugins: map[string]any{"other.example.com/v1": map[string]any{"key": "value"}}}
	chosen := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{request.ToolsKey: request.OwnTools}}}
	tests := []struct {
		name, makefile string
		request        request.Request
		files          map[string]string
		want           string
		hint           []string // lines of the hint
	}{
		{
			name: "not understood, and no files", makefile: all + "crd paths=$(shell cat paths) output:dir=deploy\n",
			want: "Makefile:2: operon does not understand this controller-gen call, as it depends on $(shell cat paths), and may generate other content for " +
				"api/aqua/v1alpha1/zz_generated.deepcopy.go, api/v1/zz_generated.deepcopy.go, api/v2/zz_generated.deepcopy.go, ...",
			hint: []string{"run operon adopt --make-dry-run, or write the arguments to PROJECT:", "plugins:", "  generate.operon.dev/v1:", "    args:", "    - crd", "    - output:crd:dir=deploy", "    - paths=./... # operon's default; Makefile:2 has paths=<?>"},
		},
		{
			name: "not understood, and other files", makefile: all + "crd paths=$(shell cat paths)\n", request: request.Request{Project: other, Only: []string{"rbac"}},
			files: map[string]string{"config/rbac/role.yaml": "---\nkind: ClusterRole\n"},
			want:  "and may generate other content for config/rbac/role.yaml",
			hint:  []string{"run operon adopt --make-dry-run, or write the arguments to plugins in PROJECT:", "  generate.operon.dev/v1:", "    - crd"},
		},
		{
			name: "a variable without a name", makefile: all + "$(\\\n\t\t) crd paths=./api/... $(\\\n\t\t) output:dir=deploy\n", request: request.Request{Project: chosen},
			want: "Makefile:2: operon does not understand this controller-gen call, as it depends on $(), a variable without a name, and may generate",
			hint: []string{"run operon adopt --make-dry-run, or write the arguments to generate.operon.dev/v1 in PROJECT:", "    args:", "    - crd", "    - output:crd:dir=deploy", "    - paths=./api/..."},
		},
		{
			name: "nothing is understood", makefile: all + "$(shell cat args)\n\tcontroller-gen object paths=./...\n", request: request.Request{Project: chosen},
			want: "Makefile:2: operon does not understand this controller-gen call, as it depends on $(shell cat args)",
			hint: []string{"run operon adopt --make-dry-run, or write the arguments to generate.operon.dev/v1 in PROJECT:", "    calls:", "      - object", "      # operon's defaults, because it does not understand Makefile:2", "      - crd"},
		},
		{
			name: "in another folder", makefile: "all:\n\tcd api && controller-gen crd:maxDescLen=$(shell cat len) schemapatch:manifests=$(shell cat dir) paths=./v1 output:crd:dir=../deploy\n",
			want: "Makefile:2: operon does not understand this controller-gen call, as it depends on $(shell cat len)",
			hint: []string{"    - crd # operon's default; Makefile:2 has crd:maxDescLen=<?>", "    - output:crd:dir=deploy", "    - paths=./api/v1", "    # Makefile:2 also has schemapatch:manifests=<?>"},
		},
		{
			name: "different content", makefile: all + "crd paths=./api/...\nbrief:\n\tcontroller-gen crd:maxDescLen=0 paths=./api/...\n",
			want: "Makefile:2 and Makefile:4 generate different content for config/crd/",
			hint: []string{"keep the calls that count in PROJECT:", "    calls:", "      - crd:maxDescLen=0"},
		},
		{
			name: "different content, beside other generators", makefile: all + "crd paths=./api/...\n\tcontroller-gen rbac:roleName=r crd:maxDescLen=0 paths=./api/...\n\tcontroller-gen webhook paths=./api/...\n",
			want: "Makefile:2 and Makefile:3 generate different content for config/crd/",
		},
		{
			name: "different content, one line", makefile: all + "crd paths=./api/... && controller-gen crd:maxDescLen=0 paths=./api/...\n",
			want: "the calls in Makefile:2 generate different content for config/crd/",
		},
		{
			name: "outside the project", makefile: all + "crd paths=./... output:dir=../deploy\n",
			want: "as it refers to ../deploy, which is outside the project",
		},
		{
			name: "no such folder", makefile: all + "crd paths=./apis/...\n", want: `Makefile:2: path "./apis/..." is not a folder`,
		},
		{
			name: "--paths and several calls", makefile: all + "crd paths=./api/...\n\tcontroller-gen rbac:roleName=r paths=./...\n",
			request: request.Request{Paths: []string{"./api/v1"}}, want: "--paths does not say which of the 2 calls of the project it means",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t)
			gentest.WriteFile(t, filepath.Join(dir, "Makefile"), []byte(tt.makefile))
			for name, content := range tt.files {
				gentest.WriteFile(t, filepath.Join(dir, name), []byte(content))
			}
			tt.request.Dir = dir
			p := gentest.NewPlan(t, dir)
			err := gen.Plan(t.Context(), tt.request, p)
			if err == nil || !strings.Contains(err.Error(), tt.want) || fault.Code(err) != fault.CodeUsage {
				t.Fatalf("got %v, want an error about %s", err, tt.want)
			}
			if len(p.Changes()) > 0 {
				t.Error("the plan has changes")
			}
			for _, line := range tt.hint {
				if !strings.Contains("\n"+fault.HintOf(err)+"\n", "\n"+line+"\n") {
					t.Errorf("the hint lacks %q:\n%s", line, fault.HintOf(err))
				}
			}
			if strings.Contains(tt.want, "not understand") {
				tt.request.Project = pasted(t, fault.HintOf(err), tt.request.Project)
				if err := gen.Plan(t.Context(), tt.request, gentest.NewPlan(t, dir)); err != nil {
					t.Errorf("with the lines of the hint: %v", err)
				}
			}
		})
	}
}
