package calls_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// files is a project.
type files map[string]string

// Read implements calls.Project.
func (f files) Read(name string) ([]byte, error) {
	content, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

// Below implements calls.Project.
func (f files) Below(dir string) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if dir == "." || strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	return names, nil
}

// Containing implements calls.Project.
func (f files) Containing(extension, text string) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasSuffix(name, extension) && strings.Contains(f[name], text) {
			names = append(names, name)
		}
	}
	return names, nil
}

func TestCalls(t *testing.T) {
	t.Parallel()
	args := func(all ...string) []string { return all }
	tests := []struct {
		name, text string
		more       files
		want       [][]string // nil: a call that is not understood
	}{
		{name: "none", text: "all:\n\tgo build ./...\n"},
		{
			name: "kubebuilder v4",
			text: `LOCALBIN ?= $(shell pwd)/bin
CONTROLLER_GEN ?= $(LOCALBIN)/controller-gen
YEAR ?= $(shell date +%Y)
manifests: controller-gen ## Generate.
	"$(CONTROLLER_GEN)" rbac:roleName=manager-role crd webhook paths="./..." output:crd:artifacts:config=config/crd/bases
generate: controller-gen
	"$(CONTROLLER_GEN)" object:headerFile="hack/boilerplate.go.txt",year=$(YEAR) paths="./..."
controller-gen: $(CONTROLLER_GEN)
$(CONTROLLER_GEN): $(LOCALBIN)
	$(call go-install-tool,$(CONTROLLER_GEN),sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_TOOLS_VERSION))
define go-install-tool
@[ -f "$(1)-$(3)" ] && [ "$$(readlink -- "$(1)")" = "$(1)-$(3)" ] || { \
package=$(2)@$(3) ;\
rm -f "$(1)" ;\
GOBIN="$(LOCALBIN)" go install $${package} ;\
mv "$(LOCALBIN)/$$(basename "$(1)")" "$(1)-$(3)" ;\
}
endef
`,
			want: [][]string{
				args("rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"),
				args("object:headerFile=hack/boilerplate.go.txt", "paths=./..."),
			},
		},
		{
			name: "kubebuilder v2",
			text: `CRD_OPTIONS ?= "crd:trivialVersions=true"
manifests: controller-gen
	$(CONTROLLER_GEN) $(CRD_OPTIONS) rbac:roleName=manager-role webhook paths="./..."
controller-gen:
ifeq (, $(shell which controller-gen))
	@{ \
	go get sigs.k8s.io/controller-tools/cmd/controller-gen@v0.2.5 ;\
	rm -rf $$CONTROLLER_GEN_TMP_DIR ;\
	}
CONTROLLER_GEN=$(GOBIN)/controller-gen
else
CONTROLLER_GEN=$(shell which controller-gen)
endif
`,
			want: [][]string{args("crd:trivialVersions=true", "rbac:roleName=manager-role", "webhook", "paths=./...")},
		},
		{
			name: "kubebuilder v3",
			text: `GOBIN=$(shell go env GOPATH)/bin
CRD_OPTIONS ?= "crd:trivialVersions=true,preserveUnknownFields=false"
manifests: controller-gen ## Generate.
	$(CONTROLLER_GEN) $(CRD_OPTIONS) rbac:roleName=manager-role webhook paths="./..." output:crd:artifacts:config=config/crd/bases
generate: controller-gen
	$(CONTROLLER_GEN) object:headerFile="hack/boilerplate.go.txt" paths="./..."
CONTROLLER_GEN = $(shell pwd)/bin/controller-gen
.PHONY: controller-gen
controller-gen: ## Download.
	$(call go-get-tool,$(CONTROLLER_GEN),sigs.k8s.io/controller-tools/cmd/controller-gen@v0.6.1)
define go-get-tool
@[ -f $(1) ] || { \
set -e ;\
TMP_DIR=$$(mktemp -d) ;\
GOBIN=$(PROJECT_DIR)/bin go get $(2) ;\
rm -rf $$TMP_DIR ;\
}
endef
`,
			want: [][]string{
				args("crd:trivialVersions=true,preserveUnknownFields=false", "rbac:roleName=manager-role", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"),
				args("object:headerFile=hack/boilerplate.go.txt", "paths=./..."),
			},
		},
		{
			name: "kubebuilder v4.0",
			text: `CONTROLLER_GEN ?= $(LOCALBIN)/controller-gen-$(CONTROLLER_TOOLS_VERSION)
CONTROLLER_TOOLS_VERSION ?= v0.15.0
manifests: controller-gen
	$(CONTROLLER_GEN) rbac:roleName=manager-role crd webhook paths="./..." output:crd:artifacts:config=config/crd/bases
controller-gen: $(CONTROLLER_GEN)
$(CONTROLLER_GEN): $(LOCALBIN)
	test -s $(LOCALBIN)/controller-gen && $(LOCALBIN)/controller-gen --version | grep -q $(CONTROLLER_TOOLS_VERSION) || \
	GOBIN=$(LOCALBIN) go install sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_TOOLS_VERSION)
`,
			want: [][]string{args("rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases")},
		},
		{
			name: "operon with apply configurations",
			text: "ifneq ($(OPERON),)\nRUN_MANIFESTS = \"$(OPERON)\" manifests\nelse\n" +
				"RUN_MANIFESTS = $(CONTROLLER_GEN) rbac:roleName=manager-role crd webhook applyconfiguration$(if $(wildcard none),:headerFile=none) paths=./...\nendif\nmanifests:\n\t$(RUN_MANIFESTS)\n",
			want: [][]string{args("rbac:roleName=manager-role", "crd", "webhook", "applyconfiguration", "paths=./...")},
		},
		{
			name: "lines that continue, and variables",
			text: "CRD = crd:maxDescLen=0 # no texts\nROLE ?= captain\nARGS := $(CRD) rbac:roleName=${ROLE}\nROLE ?= cook\n" +
				"all:\n\t@go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.19.0 \\\n\t\t$(ARGS) \\\n\t\tpaths=./api/... output:dir=$(CURDIR)/out\n",
			want: [][]string{args("crd:maxDescLen=0", "rbac:roleName=captain", "paths=./api/...", "output:dir="+calls.Root+"/out")},
		},
		{
			name: "included files and braces",
			text: "-include none.mk\ninclude hack/gen.mk\n",
			more: files{"hack/gen.mk": "all:\n\tgo tool controller-gen object paths={./a,./b}\n\t$(GEN)\nGEN = controller-gen object paths=./c\n", "other.mk": "\tcontroller-gen crd\n"},
			want: [][]string{args("object", "paths=./a", "paths=./b"), args("object", "paths=./c")},
		},
		{
			name: "files included by a pattern", text: "-include make/*/[ab].mk\n",
			more: files{"make/x/b.mk": "all:\n\tcontroller-gen crd paths=$(API)\n", "make/x/a.mk": "API = ./a\n"},
			want: [][]string{args("crd", "paths=./a")},
		},
		{
			name: "not literal",
			text: "ifdef FULL\nOPTIONS = crd\nelse\nOPTIONS = crd:maxDescLen=0\nendif\n" +
				"TWICE = ./a\nTWICE = ./b\nADDED = ./a\nADDED += ./b\nCOMPUTED != ls\nEARLY := $(LATE)\nLATE = ./a\nother: OF_TARGET = ./a\n" +
				"SPACES = ./a\nifdef X\n  SPACES = ./b\nendif\nTAB = ./a\nifdef X\n\tTAB := ./b\nendif\nEVAL = ./a\n$(eval EVAL := ./b)\n" +
				"define body\n@controller-gen $(1) \\\n  paths=./$(2)\nendef\nDIRS = a b\n" +
				"all:\n\tcd $$DIR && controller-gen object paths=./...\n" +
				"\tfor d in $$DIRS; do controller-gen object paths=./$$d; done\n" +
				"\tcontroller-gen $(OPTIONS) paths=./...\n" +
				"\tcontroller-gen $(shell cat args)\n" +
				"\tcontroller-gen crd paths=$(TWICE)\n\tcontroller-gen crd paths=$(ADDED)\n\tcontroller-gen crd paths=$(COMPUTED)\n" +
				"\tcontroller-gen crd paths=$(EARLY)\n\tcontroller-gen crd paths=$(OF_TARGET)\n\tcontroller-gen crd paths=$(UNSET)\n" +
				"\tcontroller-gen crd $(DIRS:%=paths=./%)\n\tcontroller-gen crd $(addprefix paths=./,$(DIRS))\n\tcontroller-gen crd paths=$@\n" +
				"\tcontroller-gen crd paths=$(SPACES)\n\tcontroller-gen crd paths=$(TAB)\n\tcontroller-gen crd paths=$(EVAL)\n" +
				"\tcontroller-gen crd 'paths=./...\n",
			want: make([][]string, 18),
		},
		{name: "a recipe in the line of its rule", text: "all: tools ; controller-gen crd paths=./api\n", want: [][]string{args("crd", "paths=./api")}},
		{
			name: "a variable whose name starts as a conditional", text: "iface = eth0\nPATHS = ./b\nall:\n\tcontroller-gen crd paths=$(PATHS)\n",
			want: [][]string{args("crd", "paths=./b")},
		},
		{name: "other commands", text: "all:\n\tcontroller-gen --version\n\ttest -s bin/controller-gen || echo crd\n\trm -f bin/controller-gen $(FILES)\n"},
		{
			name: "a variable for controller-gen that only $(eval) sets", text: "$(foreach t,$(tools),$(eval $(call defs,$t)))\nall:\n\t$(CONTROLLER-GEN) crd paths=./a\n\t$(CONTROLLER_GEN) --version\n",
			want: [][]string{args("crd", "paths=./a")},
		},
		{name: "a variable that refers to itself", text: "A = $(A)\nall:\n\tcontroller-gen $(A) crd\n", want: [][]string{nil}},
		{
			name: "a variable that doubles", text: "A := ab\n" + strings.Repeat("A := $(A)$(A)\n", 60) + "all:\n\tcontroller-gen $(A) crd\n\tcontroller-gen object paths=.\n",
			want: [][]string{nil, args("object", "paths=.")},
		},
		{name: "GNUmakefile comes first", text: "all:\n\tcontroller-gen crd\n", more: files{"GNUmakefile": "all:\n\tcontroller-gen rbac:roleName=r\n"},
			want: [][]string{args("rbac:roleName=r")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			project := files{"Makefile": tt.text}
			maps.Copy(project, tt.more)
			var got [][]string
			found, _ := calls.Find(project)
			for _, c := range found {
				if c.Unclear != "" {
					c.Args = nil
				}
				got = append(got, c.Args)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSources tests the other files that call controller-gen, and the folders of calls.
func TestSources(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		project files
		want    []string // place, folder and arguments, and what makes a call unclear
	}{
		{"folders", files{"Makefile": "a:\n\tcd api && controller-gen crd paths=./... && controller-gen object paths=.\n\t(cd api/v1 && controller-gen rbac:roleName=r paths=.)\n\tcd x && cd y; controller-gen webhook\n"},
			[]string{"Makefile:2 /api [crd paths=./...]", "Makefile:2 /api [object paths=.]", "Makefile:3 /api/v1 [rbac:roleName=r paths=.]", "Makefile:4  [webhook] (cd y)"}},
		{"loops and conditions", files{"Makefile": "a:\n\tfor d in {a,b}; do controller-gen crd paths=./$$d; done\n\tif x; then cd y; fi; controller-gen object paths=.\n"},
			[]string{"Makefile:2  [crd paths=./<?>] ($d)", "Makefile:3  [object paths=.] (cd y)"}},
		{"a function of an unknown value", files{"Makefile": "a:\n\tcontroller-gen crd paths=. output:dir=$(or $(OUT),config)\n"},
			[]string{"Makefile:2  [crd paths=. output:dir=<?>] ($(or <?>,config))"}},
		{
			"scripts", files{
				"hack/gen.sh":   "#!/bin/bash\nexport OUT=deploy\ncontroller-gen crd paths=\"./api/...\" \\\n  output:dir=${OUT}\nfor d in a b; do\n  MORE=$d\n  controller-gen object paths=./$MORE\ndone\n# cd is not called here\n",
				"hack/other.sh": "cd \"$(dirname \"$0\")/..\"\nCG=bin/controller-gen\n$CG object paths=./b\n",
				"hack/more.sh":  "CG=bin/controller-gen\nAPI=./api\n${CG} object paths=${API}\n$CG object paths=./$UNSET \"$@\"\n",
			},
			[]string{"hack/gen.sh:3  [crd paths=./api/... output:dir=deploy]", "hack/gen.sh:7  [object paths=./<?>] ($MORE)", "hack/more.sh:3  [object paths=./api]",
				"hack/more.sh:4  [object paths=./<?> <?>] ($UNSET)", "hack/other.sh:3  [object paths=./b] (cd \"$(dirname \"$0\")/..\")"},
		},
		{
			"a Taskfile", files{"Taskfile.yml": "version: '3'\nvars:\n  OUT: deploy\n  ARGS: {sh: cat args}\ntasks:\n  gen:\n    vars: {GEN: crd}\n    cmds:\n    - controller-gen {{.GEN}} paths=./... output:crd:dir={{.ROOT_DIR}}/{{.OUT}}\n" +
				"    - cmd: |\n        echo\n        controller-gen object {{.ARGS}}\n  one: go tool controller-gen rbac:roleName=r paths=.\n"},
			[]string{"Taskfile.yml:9  [crd paths=./... output:crd:dir=/deploy]", "Taskfile.yml:12  [object <?>] ({{.ARGS}})", "Taskfile.yml:13  [rbac:roleName=r paths=.]"},
		},
		{"a folder in a Taskfile", files{"Taskfile.yml": "tasks:\n  gen:\n    dir: api\n    cmd: controller-gen crd paths=./...\n"}, []string{"Taskfile.yml:4  [crd paths=./...] (the key dir)"}},
		{"a justfile", files{"justfile": "gen := \"controller-gen\"\nout := `pwd`\n\nall: tools\n    @{{gen}} crd paths=./...\n    {{gen}} object {{out}}\n"},
			[]string{"justfile:5  [crd paths=./...]", "justfile:6  [object <?>] ({{out}})"}},
		{"go:generate comments", files{"api/v1/doc.go": "package v1\n\n//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.19.0 object paths=.\n"},
			[]string{"api/v1/doc.go:3 /api/v1 [object paths=.]"}},
		{"go:generate comment with a tab, and another comment", files{"a.go": "package a\n\n//go:generate\tcontroller-gen object paths=.\n//go:generated controller-gen crd paths=.\n"},
			[]string{"a.go:3  [object paths=.]"}},
		{"no go:generate comments beside other calls", files{"Makefile": "a:\n\tcontroller-gen object crd paths=./...\n", "a.go": "package a\n\n//go:generate controller-gen crd paths=./a\n"},
			[]string{"Makefile:2  [object crd paths=./...]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, _ := calls.Find(tt.project)
			var got []string
			for _, c := range found {
				text := fmt.Sprintf("%s %s %v", c.At(), c.Dir, c.Args)
				if c.Unclear != "" {
					text += " (" + c.Unclear + ")"
				}
				got = append(got, strings.ReplaceAll(text, calls.Root, ""))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPin finds the version of controller-tools that a project installs.
func TestPin(t *testing.T) {
	t.Parallel()
	const call = "a:\n\tcontroller-gen crd paths=.\n"
	for want, project := range map[string]files{
		"v0.19.0": {"Makefile": "CONTROLLER_TOOLS_VERSION ?= v0.19.0\n"},
		"v0.18.0": {"Makefile": "include tools.mk\n", "tools.mk": "\nCONTROLLER_GEN_VER := v0.18.0\n"},
		"v0.17.1": {"Makefile": "a:\n\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.17.1 crd paths=.\n"},
		"v0.16.5": {"Makefile": call, "go.mod": "module m\n\nrequire sigs.k8s.io/controller-tools v0.16.5\n"},
		"v0.15.0": {"Makefile": call, "hack/tools/go.mod": "module m\n\nrequire sigs.k8s.io/controller-tools v0.15.0\n"},
		"v0.14.0": {"Makefile": "tools += controller-gen=v0.14.0\n"},
		"":        {"Makefile": call + "CONTROLLER_TOOLS_VERSION ?= $(shell cat version)\n"},
	} {
		if _, pin := calls.Find(project); pin.Version != want {
			t.Errorf("got %+v, want %s", pin, want)
		}
	}
}

// TestScaffolds reads the Makefiles of projects that operon initialized, and of one that kubebuilder did.
func TestScaffolds(t *testing.T) {
	t.Parallel()
	for _, project := range []string{"golden/fleet", "golden/aerospike", "golden/harbor", "golden/memcached", "compat/project"} {
		text, err := os.ReadFile(repository.Path("testdata", project, "Makefile"))
		if err != nil {
			t.Fatal(err)
		}
		for header, object := range map[string]string{"hack/boilerplate.go.txt": "object:headerFile=hack/boilerplate.go.txt", "other": "object"} {
			apply := "applyconfiguration" + strings.TrimPrefix(object, "object")
			if project == "compat/project" {
				object = "object:headerFile=hack/boilerplate.go.txt"
			}
			want := []calls.Call{
				{Args: []string{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}},
				{Args: []string{object, "paths=./..."}},
			}
			if strings.Contains(string(text), "applyconfiguration") {
				want[0].Args = slices.Insert(want[0].Args, 3, apply)
			}
			got, _ := calls.Find(files{"Makefile": string(text), header: ""})
			for i := range got {
				got[i].File, got[i].Line, got[i].Dir = "", 0, ""
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", project, header, diff)
			}
		}
	}
}

// TestPrinted reads what make -n prints.
func TestPrinted(t *testing.T) {
	t.Parallel()
	got := calls.Printed("mkdir -p bin\n/x/bin/controller-gen rbac:roleName=r crd \\\n\tpaths=\"./...\" output:dir=out\ncd " + calls.Root + "/api && bin/controller-gen object paths=.\necho done\n")
	want := []calls.Call{
		{File: "make -n", Line: 2, Dir: calls.Root, Args: []string{"rbac:roleName=r", "crd", "paths=./...", "output:dir=out"}},
		{File: "make -n", Line: 4, Dir: calls.Root + "/api", Args: []string{"object", "paths=."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzCalls(f *testing.F) {
	for _, text := range []string{
		"a: b\n\tcontroller-gen crd\n", "A += $(call f,$(1),${x:y=z})\n", "define d\n$(d)\nendef\n", "ifeq (a\nX=$$\\\n", "include Makefile\n\t$(if $(A),",
		"f() { f; ./hack/a.sh; make -C .; }\nf; for i in {1..9999999}; do controller-gen $i; done\n", "controller-gen ${A:=b} $(cd x && pwd) $((1/0)) <(x) > y\n",
		"tasks:\n  a: [controller-gen {{.A}} {{if}}, {cmd: x}]\nvars: {A: '{{.A}}'}\n", "a := \"{{a}}\"\nb:\n  controller-gen {{a}}\n", "//go:generate controller-gen 'crd\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		calls.Find(files{"Makefile": text, "hack/a.sh": text, "Taskfile.yml": text, "justfile": text, "a.go": text})
	})
}
