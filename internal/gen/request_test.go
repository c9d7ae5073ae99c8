package gen_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// TestWrongArguments expects usage errors before anything is loaded.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		r          request.Request
		want, hint string
	}{
		{request.Request{Args: []string{"crb"}}, `unknown argument "crb"`, "did you mean crd?"},
		{request.Request{Args: []string{""}}, `unknown argument ""`, "valid arguments: applyconfiguration, crd, object, rbac, schemapatch, webhook, paths, output"},
		{request.Request{Args: []string{"--only"}}, `unknown argument "--only"`, "valid arguments"},
		{request.Request{Args: []string{"crd:maxDesc=0"}}, `argument "crd:maxDesc=0": `, "options of crd: allowDangerousTypes"},
		{request.Request{Args: []string{"crd:maxDescLen=x"}}, `argument "crd:maxDescLen=x": `, "maxDescLen"},
		{request.Request{Args: []string{"rbac"}}, `argument "rbac": missing argument "roleName"`, "roleName"},
		{request.Request{Args: []string{"crd", "crd:maxDescLen=0"}}, "the generator crd is specified twice", "commas"},
		{request.Request{Args: []string{"crd:maxDescLen=0", "crd:maxDescLen=1"}}, "the generator crd is specified twice", "give each option once, and quote an argument with braces, which the shell otherwise splits into several"},
		{request.Request{Args: []string{"crd:crdVersions=v1", "crd:crdVersions=v1beta1"}}, "the generator crd is specified twice", "use crd:crdVersions=v1, which is the default: Kubernetes 1.22 removed v1beta1, and controller-tools does not generate it; quote an argument with braces"},
		{request.Request{Args: []string{"output:pipe"}}, `unknown argument "output:pipe"`, "artifacts, dir, none, stdout"},
		{request.Request{Args: []string{"crd", "output:rbac:stdout"}}, "an output rule names the generator rbac, which does not run", "add rbac"},
		{request.Request{Only: []string{"crds"}}, `unknown generator "crds"`, "did you mean crd?"},
		{request.Request{Only: []string{"manifests"}}, `unknown generator "manifests"`, "valid values: applyconfiguration, crd, object, rbac, schemapatch, webhook"},
		{request.Request{Args: []string{"crd"}, Only: []string{"rbac"}}, "no generator to run", "the arguments contain crd"},
		{request.Request{Paths: []string{"./nowhere/..."}}, `path "./nowhere/..." is not a folder`, "project root"},
		{request.Request{Paths: []string{"./api/v1/lion_types.go"}}, `path "./api/v1/lion_types.go" is not a folder`, "project root"},
		{request.Request{Args: []string{"crd", "output:dir=../out"}}, "is outside the project", "below the project root"},
		{request.Request{Args: []string{"object", "output:dir=./vendor/a"}}, "output:object: ./vendor/a is in a folder vendor, whose code go mod vendor removes", "of the project"},
		{request.Request{Args: []string{"crd", "output:crd:dir=/elsewhere"}, Paths: []string{"./hack"}}, "the output /elsewhere of crd is outside the project", "output:crd:stdout"},
		{request.Request{Args: []string{"output:object:artifacts:config=x,code=../y"}, Paths: []string{"./hack"}}, "the output ../y of object is outside the project", "below the project root"},
		{request.Request{Args: []string{"rbac:roleName=r,fileName=../../../role.yaml"}}, "is outside the project", "below the project root"},
		{request.Request{HeaderFile: "nope.txt"}, "--header-file nope.txt: no such file", "path from the project root"},
		{request.Request{HeaderFile: "nope.txt", Only: []string{"crd"}}, "--header-file nope.txt: no such file", "path"},
		{request.Request{HeaderFile: "hack"}, "--header-file hack: is a directory", "path"},
		{request.Request{Args: []string{"object:headerFile=none.txt"}}, "object:headerFile=none.txt: no such file", "path"},
		{request.Request{Args: []string{"webhook:headerFile=none.txt"}, Paths: []string{"./hack"}}, "webhook:headerFile=none.txt: no such file", "path"},
		{settings("args", "crd"), "is not a list", "list item"},
		{settings("args", []any{1}), "args[0] is not a string", "quote"},
		{settings("calls", "crd"), "calls is not a list", "list item"},
		{settings("calls", []any{"crd"}), "calls[0] is not a mapping", "args: [crd, ...]"},
		{settings("calls", []any{map[string]any{"args": []any{"crd", 1}}}), "calls[0].args[1] is not a string", "quote"},
		{settings("calls", []any{map[string]any{"args": []any{"crb"}}}), `PROJECT: plugins: generate.operon.dev/v1: calls[0]: unknown argument "crb"`, "did you mean crd?"},
		{settings("calls", []any{map[string]any{"args": []any{"crd", "paths=../.."}, "dir": "api"}}), "the call in api has a path outside the project", "stay in the project"},
		{settings("args", []any{"crd"}, "calls", []any{map[string]any{"args": []any{"crd"}}}), "has args and calls", "move the list args into calls"},
		{settings(request.ToolsKey, "0.19.0"), `controllerTools: "0.19.0" is not a version of controller-tools`, "write operon, or a version"},
		{settings(request.ToolsKey, true), `controllerTools: "" is not a version of controller-tools`, "write operon, or a version"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			tt.r.Dir = gentest.Zoo(t)
			p := gentest.NewPlan(t, tt.r.Dir)
			err := gen.Plan(t.Context(), tt.r, p)
			if err == nil || !strings.Contains(err.Error(), tt.want) || fault.Code(err) != fault.CodeUsage {
				t.Errorf("exit %d, error %v, want %s", fault.Code(err), err, tt.want)
			}
			if hint := fault.HintOf(err); !strings.Contains(hint, tt.hint) {
				t.Errorf("hint %q, want %q in it", hint, tt.hint)
			}
			if len(p.Changes()) > 0 {
				t.Errorf("planned %d changes", len(p.Changes()))
			}
		})
	}
}

// settings returns a request with settings in PROJECT: keys and values.
func settings(pairs ...any) request.Request {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return request.Request{Project: &project.Config{Plugins: map[string]any{request.ConfigKey: m}}}
}

// TestOverride combines arguments with defaults.
func TestOverride(t *testing.T) {
	t.Parallel()
	bases := genall.OutputArtifacts{Config: "config/crd/bases"}
	config := func(dir string) genall.OutputArtifacts {
		return genall.OutputArtifacts{Config: genall.OutputToDirectory(dir)}
	}
	tests := []struct {
		name  string
		r     request.Request
		paths []string
		rules map[string]genall.OutputRule
		whole []string
	}{
		{"defaults", request.Request{}, []string{"./..."},
			map[string]genall.OutputRule{"crd": bases, "rbac": config("config/rbac"), "webhook": config("config/webhook"), "object": config("config/object")},
			[]string{"rbac", "crd", "webhook", "object"}},
		{"a generator replaces the set and keeps its place", request.Request{Args: []string{"crd:maxDescLen=0"}}, []string{"./..."},
			map[string]genall.OutputRule{"crd": bases}, []string{"crd"}},
		{"only paths", request.Request{Args: []string{"paths=./api/..."}, Only: []string{"crd"}}, []string{"./api/..."},
			map[string]genall.OutputRule{"crd": bases}, nil},
		{"the flag takes precedence", request.Request{Args: []string{"crd", "paths=./api/..."}, Paths: []string{"./a", "./b"}}, []string{"./a", "./b"},
			map[string]genall.OutputRule{"crd": bases}, nil},
		{"a rule for all", request.Request{Args: []string{"crd", "object", "output:dir=out"}}, []string{"./..."},
			map[string]genall.OutputRule{"crd": genall.OutputToDirectory("out"), "object": genall.OutputToDirectory("out")}, nil},
		{"a rule for one", request.Request{Args: []string{"output:rbac:none"}, Only: []string{"crd", "rbac"}}, []string{"./..."},
			map[string]genall.OutputRule{"crd": bases, "rbac": genall.OutputToNothing}, []string{"crd"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, err := gentest.Job(tt.r, gentest.NewPlan(t, t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			rules := map[string]genall.OutputRule{}
			for _, g := range j.Generators {
				rules[g.Name] = g.Rule
			}
			for _, diff := range []string{cmp.Diff(tt.paths, j.Paths), cmp.Diff(tt.rules, rules), cmp.Diff(tt.whole, j.Complete)} {
				if diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestHeader sets header files by flags, and finds the year.
func TestHeader(t *testing.T) {
	t.Parallel()
	const old = "/*\nCopyright 2019 The Zoo.\n\nLine two.\n*/\n\npackage v1\n"
	cfg := &project.Config{Repo: "example.com/zoo", Resources: []project.Resource{{Group: "zoo", Domain: "example.com", Version: "v1", Kind: "Lion"}}}
	dir := gentest.Zoo(t, "-- "+cfg.APIDir(cfg.Resources[0])+"/zz_generated.deepcopy.go --\n"+old)
	fresh := gentest.Zoo(t)
	tests := []struct {
		name string
		dir  string
		r    request.Request
		want deepcopy.Generator
	}{
		{"committed year", dir, request.Request{Project: cfg, ThisYear: "2042"}, deepcopy.Generator{HeaderFile: request.HeaderFile, Year: "2019"}},
		{"first year", fresh, request.Request{Project: cfg, ThisYear: "2042"}, deepcopy.Generator{HeaderFile: request.HeaderFile, Year: "2042"}},
		{"flags", dir, request.Request{Project: cfg, HeaderFile: "h.txt", Year: "7"}, deepcopy.Generator{HeaderFile: "h.txt", Year: "7"}},
		{"no header file", t.TempDir(), request.Request{Year: "7"}, deepcopy.Generator{}},
		{"own arguments", fresh, request.Request{Args: []string{"object:headerFile=x,year=1"}}, deepcopy.Generator{HeaderFile: "x", Year: "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, err := gentest.Job(tt.r, gentest.NewPlan(t, tt.dir))
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range j.Generators {
				switch v := g.Gen.(type) {
				case deepcopy.Generator:
					if diff := cmp.Diff(tt.want, v); diff != "" {
						t.Error(diff)
					}
				case crd.Generator:
					if v.HeaderFile != "" {
						t.Error("a YAML generator has the Go header")
					}
				}
			}
		})
	}
}
