package calls_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/calls"
)

// makefiles is a project whose Makefile includes others from folders that it computes.
var makefiles = files{
	"api/v1/types.go":      "",
	"api/v2/types.go":      "",
	"api/.hidden/types.go": "",
	"hack/boilerplate.txt": "",
	"make/shared/a.mk":     "here := $(dir $(lastword $(MAKEFILE_LIST)))\nlater = $(lastword $(MAKEFILE_LIST))\ninclude $(here)/b.mk\n",
	"make/shared/b.mk":     "there := $(notdir $(lastword $(MAKEFILE_LIST)))\nfrom_b = b\nroot := $(abspath $(dir $(firstword $(MAKEFILE_LIST))))\n",
	"Makefile": `here_at_first := $(here)x
first := $(second)
second := two
lazy = $(third)
third := three
simple := a
simple += $(third)
third := four
recursive = a
recursive += $(third)
third := five
cost := 5$$
default := one
default ?= two
LIST = b.go a.go dir/c.go a.go d.x/e
define two_lines
$(1) and
$(2)
endef
-include make/*/a.mk
`,
}

// expressions are expanded by make and by operon.
var expressions = []string{
	"$(here)", "$(here_at_first)", "$(there)", "$(from_b)", "$(root)", "$(later)", "$(MAKEFILE_LIST)", "$(CURDIR)",
	"$(first)", "$(lazy)", "$(simple)", "$(recursive)", "$(cost)", "$(default)",
	"$(dir $(LIST))", "$(dir a/ /b c)", "$(notdir $(LIST) x/)", "$(suffix $(LIST))", "$(basename $(LIST))",
	"$(firstword $(LIST))", "$(lastword $(LIST))", "$(firstword )", "$(lastword )", "$(word 2,$(LIST))", "$(word 9,$(LIST))",
	"$(wordlist 2,3,$(LIST))", "$(wordlist 2,99,$(LIST))", "$(wordlist 3,2,$(LIST))", "$(words $(LIST))",
	"$(filter %.go,$(LIST))", "$(filter-out %.go dir/%,$(LIST))", "$(filter a.go d.x/e,$(LIST))",
	"$(sort $(LIST))", "$(strip  a   b )", "$(join a b,.c .d .e)", "$(addprefix ./,$(LIST))", "$(addsuffix /...,$(LIST))",
	"$(subst a,b,banana)", "$(subst ,x,abc)", "$(findstring a,b a c)", "$(findstring x,b a c)",
	"$(patsubst %.go,%.o,$(LIST))", "$(patsubst a,b,a ab ba)", "$(patsubst a%,[%],abc a b)", "$(LIST:.go=.o)", "$(LIST:a%=z%)",
	"$(abspath a/../b ./c)", "$(realpath api hack/boilerplate.txt none)", "$(realpath Makefile)",
	"$(wildcard api/*)", "$(wildcard api/*/*.go)", "$(wildcard none/* hack)", "$(wildcard hack/boilerplate.txt)",
	"$(if $(wildcard none),a,b)", "$(if $(wildcard api),a,b)", "$(or ,$(none),$(third),x)", "$(or ,)", "$(and a,$(none),b)", "$(and a,$(third))",
	"$(foreach d,a b,[$(d)])", "$(info text)z", "$(dir a,b/c)", "$(LIST) , and a comma",
}

// TestMake compares the values of variables and functions with those of make.
func TestMake(t *testing.T) {
	t.Parallel()
	var recipe strings.Builder
	recipe.WriteString("all:\n")
	for i, expression := range expressions {
		fmt.Fprintf(&recipe, "\t@controller-gen object:headerFile='%d %s'\n", i, expression)
	}
	project := files{}
	maps.Copy(project, makefiles)
	project["Makefile"] += recipe.String()

	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range project {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("make", "-n", "all")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")} // make below make prints folders, too
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	wanted := map[string]string{}
	for text := range strings.SplitSeq(strings.ReplaceAll(string(out), dir, calls.Root), "controller-gen object:headerFile='") {
		if number, value, ok := strings.Cut(strings.TrimSuffix(text, "'\n"), " "); ok {
			wanted[number] = value
		}
	}
	if len(wanted) != len(expressions) {
		t.Fatalf("make printed %d values instead of %d:\n%s", len(wanted), len(expressions), out)
	}
	got := map[string]string{}
	found, _ := calls.Find(project)
	for _, c := range found {
		number, value, _ := strings.Cut(strings.TrimPrefix(c.Args[0], "object:headerFile="), " ")
		if c.Unclear != "" {
			value = "not known: " + c.Unclear
		}
		got[number] = value
	}
	for i, expression := range expressions {
		number := fmt.Sprint(i)
		if diff := cmp.Diff(strings.Fields(wanted[number]), strings.Fields(got[number])); diff != "" {
			t.Errorf("%s (-make +operon):\n%s", expression, diff)
		}
	}
}

// TestMakeUnknown tests functions that depend on more than their arguments and files.
func TestMakeUnknown(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"$(shell ls)", "$(dir $(shell ls))", "$(or $(shell ls),a)", "$(word 1,$(shell ls))", "$(origin X)", "$(file <x)", "$(filter a)"} {
		found, _ := calls.Find(files{"Makefile": "all:\n\tcontroller-gen object:headerFile='" + expression + "'\n"})
		if len(found) != 1 || found[0].Unclear == "" {
			t.Errorf("%s: got %+v, want one call that is unclear", expression, found)
		}
	}
}
