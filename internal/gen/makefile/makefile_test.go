package makefile_test

import (
	"io/fs"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/makefile"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// files is a project.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	content, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
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
			name: "lines that continue, and variables",
			text: "CRD = crd:maxDescLen=0 # no texts\nARGS := $(CRD)\nARGS += rbac:roleName=$(ROLE)\nROLE ?= captain\n" +
				"all:\n\t@go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.19.0 \\\n\t\t$(ARGS) \\\n\t\tpaths=./api/...\n",
			want: [][]string{args("crd:maxDescLen=0", "rbac:roleName=captain", "paths=./api/...")},
		},
		{
			name: "included files and braces",
			text: "-include hack/*.mk\ninclude hack/gen.mk\n",
			more: files{"hack/gen.mk": "all:\n\tgo tool controller-gen object paths={./a,./b}\n\t$(GEN)\nGEN = controller-gen object paths=./c\n"},
			want: [][]string{args("object", "paths=./a", "paths=./b"), args("object", "paths=./c")},
		},
		{
			name: "not understood",
			text: "ifdef FULL\nOPTIONS = crd\nelse\nOPTIONS = crd:maxDescLen=0\nendif\n" +
				"all:\n\tcd api && controller-gen object paths=./...\n" +
				"\tfor d in a b; do controller-gen object paths=./$$d; done\n" +
				"\tcontroller-gen $(OPTIONS) paths=./...\n" +
				"\tcontroller-gen $(shell cat args)\n",
			want: [][]string{nil, nil, nil, nil},
		},
		{name: "a recipe in the line of its rule", text: "all: tools ; controller-gen crd paths=./api\n", want: [][]string{args("crd", "paths=./api")}},
		{
			name: "a variable whose name starts as a conditional", text: "iface = eth0\nPATHS = ./a\nPATHS = ./b\nall:\n\tcontroller-gen crd paths=$(PATHS)\n",
			want: [][]string{args("crd", "paths=./b")},
		},
		{name: "a reference with a substitution", text: "DIRS = a b\nall:\n\tcontroller-gen crd $(DIRS:%=paths=./%)\n", want: [][]string{nil}},
		{name: "other commands", text: "all:\n\tcontroller-gen --version\n\ttest -s bin/controller-gen || echo crd\n\trm -f bin/controller-gen $(FILES)\n"},
		{name: "a variable that refers to itself", text: "A = $(A)\nall:\n\tcontroller-gen $(A) crd\n", want: [][]string{nil}},
		{name: "GNUmakefile comes first", text: "all:\n\tcontroller-gen crd\n", more: files{"GNUmakefile": "all:\n\tcontroller-gen rbac:roleName=r\n"},
			want: [][]string{args("rbac:roleName=r")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			project := files{"Makefile": tt.text}
			maps.Copy(project, tt.more)
			var got [][]string
			for _, c := range makefile.Calls(project.read) {
				got = append(got, c.Args)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnMakefile reads the Makefile of a project that operon initialized.
func TestOwnMakefile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(repository.Path("testdata/golden/fleet/Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for header, object := range map[string]string{"hack/boilerplate.go.txt": "object:headerFile=hack/boilerplate.go.txt", "other": "object"} {
		want := []makefile.Call{
			{Args: []string{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}},
			{Args: []string{object, "paths=./..."}},
		}
		got := makefile.Calls(files{"Makefile": string(text), header: ""}.read)
		for i := range got {
			got[i].File, got[i].Line = "", 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", header, diff)
		}
	}
}

func FuzzCalls(f *testing.F) {
	for _, text := range []string{"a: b\n\tcontroller-gen crd\n", "A += $(call f,$(1),${x:y=z})\n", "define d\n$(d)\nendef\n", "ifeq (a\nX=$$\\\n", "include Makefile\n\t$(if $(A),"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { makefile.Calls(files{"Makefile": text}.read) })
}
