//go:build testall

package projects

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestEditThereAndBack switches the layout of a project with user edits in every file, and
// switches it back. In the other layout it builds, its suites pass and all lines of the
// user are kept. In the end, every byte is the same as before.
func TestEditThereAndBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, dir)
	for _, args := range []string{
		"init --domain example.org --repo example.org/fleet",
		"create api --group ship --version v1 --kind Frigate --make=false",
		"create api --group ship --version v2 --kind Frigate --controller=false --make=false",
		"create api --group ship --version v1 --kind Port --namespaced=false --controller-name port-watch --make=false",
		"create api --group apps --version v1 --kind Deployment --resource=false --owns core/v1/ConfigMap --watches core/v1/Secret --make=false",
		"create api --group apps --version v1 --kind Deployment --resource=false --controller-name roll-out --label fleet=yes --finalizer --make=false",
		"create api --group ship --version v1 --kind Port --resource=false --controller-name port-watch --finalizer --make=false",
		"create webhook --group ship --version v1 --kind Frigate --defaulting --programmatic-validation --make=false",
		"create webhook --group ship --version v2 --kind Frigate --conversion --make=false",
		"create webhook --group core --version v1 --kind Pod --defaulting --make=false",
		"create api --group ship --version v1 --kind Sloop --ssa --make=false",
	} {
		operontest.Run(t, dir, strings.Fields(args)...)
	}
	userLines := editEveryFile(t, dir)
	operontest.Run(t, dir, "generate")
	operontest.Run(t, dir, "init")
	before := treetest.Read(t, dir)

	for _, s := range []struct{ there, back []string }{
		{[]string{"--multigroup"}, []string{"--multigroup=false"}},
		{[]string{"--namespaced"}, []string{"--namespaced=false"}},
		{[]string{"--webhook-certs", "self"}, []string{"--webhook-certs", "cert-manager"}},
		{[]string{"--owner", "The Fleet Authors"}, []string{"--owner", ""}},
		{[]string{"--multigroup", "--namespaced"}, []string{"--multigroup=false", "--namespaced=false"}},
	} {
		name := strings.Join(s.there, " ")
		edit(t, dir, userLines, name, s.there)
		if len(s.there) == 2 && s.there[0] == "--multigroup" {
			suitesPass(t, dir)
		}
		operontest.Run(t, dir, append([]string{"edit"}, s.back...)...)
		if d := treetest.Diff(before, treetest.Read(t, dir)); d != "" {
			t.Fatalf("there and back with %s (-before +after):\n%s", name, d)
		}
	}
}

// suitesPass runs all tests of the project on a real API server.
func suitesPass(t *testing.T, dir string) {
	t.Helper()
	projecttest.GoCommand(t, dir, "mod", "tidy", "-diff")
	out := projecttest.Test(t, dir)
	for _, pkg := range []string{"internal/controller/ship", "internal/controller/apps", "internal/webhook/ship/v1", "internal/webhook/core/v1"} {
		if !strings.Contains(out, "ok  \texample.org/fleet/"+pkg) {
			t.Errorf("the suite of %s did not pass", pkg)
		}
	}
}

// edit runs operon edit and checks the result.
func edit(t *testing.T, dir string, userLines []string, what string, flags []string) {
	t.Helper()
	args := append([]string{"edit"}, flags...)
	operontest.Run(t, dir, args...)
	projecttest.GoCommand(t, dir, "vet", "./...")
	if out := operontest.Exec(t, dir, "gofmt", "-l", "."); out != "" {
		t.Fatalf("%s: not formatted:\n%s", what, out)
	}
	for _, again := range [][]string{args, {"generate"}, {"init"}} {
		if out := operontest.Run(t, dir, again...); !strings.Contains(out, "nothing to do") {
			t.Fatalf("%s: operon %s has something to do:\n%s", what, strings.Join(again, " "), out)
		}
	}
	all := strings.Join(slices.Collect(maps.Values(treetest.Read(t, dir))), "\n")
	for _, line := range userLines {
		if !strings.Contains(all, line) {
			t.Fatalf("%s: the user's line %q is gone", what, line)
		}
	}
}

// userFiles are files that the user adds to the folder of the controllers.
var userFiles = map[string]string{
	"own/own.go":        "package own\n\n// Name is mine.\nconst Name = \"own\"\n",
	"age.go":            "package controller\n\nfunc (r *DeploymentReconciler) isOld(days int) bool { return days > oldAge }\n",
	"limits.go":         "package controller\n\nconst oldAge = 30\n",
	"testdata/mine.txt": "mine\n",
	"age_test.go": `package controller

import "testing"

func TestAge(t *testing.T) {
	if (&DeploymentReconciler{}).isOld(oldAge) {
		t.Error("not older")
	}
}
`,
	"sloops.go": `package controller

import applied "example.org/fleet/api/v1/applyconfiguration/api/v1"

var sloop = applied.Sloop("mine", "default")

func init() { _ = sloop }
`,
	"outside_test.go": `package controller_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/fleet/internal/controller"
	"example.org/fleet/internal/controller/own"
)

func TestOutside(t *testing.T) {
	for _, name := range []string{filepath.Join("..", "..", "PROJECT"), "../../go.mod", "testdata/mine.txt"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if own.Name == "" || (&controller.FrigateReconciler{}).Scheme != nil {
		t.Error("not mine")
	}
}
`,
}

// editEveryFile adds userFiles, and a line near the top and one at the end of every file that
// belongs to the user. It returns these lines.
func editEveryFile(t *testing.T, dir string) []string {
	t.Helper()
	for name, content := range userFiles {
		treetest.WriteFile(t, filepath.Join(dir, "internal", "controller", filepath.FromSlash(name)), content)
	}
	var userLines []string
	for name, content := range treetest.Read(t, dir) {
		comment := commentPrefix(name)
		if comment == "" {
			continue
		}
		line := func(place string) string {
			userLines = append(userLines, fmt.Sprintf("%s mine, at the %s of %s", comment, place, name))
			return userLines[len(userLines)-1] + "\n"
		}
		lines := strings.SplitAfter(content, "\n")
		top := 0
		if comment == "//" { // after the package clause or the module line
			top = 1 + slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "package ") || strings.HasPrefix(l, "module ") })
			lines[top-1] += "\n"
		}
		lines = slices.Insert(lines, top, line("top"))
		treetest.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), strings.Join(lines, "")+line("end"))
	}
	operontest.Exec(t, dir, "gofmt", "-w", ".")
	return userLines
}

// commentPrefix returns what starts a line that the user adds to a file. It is "" for files
// without comments and for generated files.
func commentPrefix(name string) string {
	if name == "config/rbac/role.yaml" || strings.HasPrefix(name, ".operon/") || strings.HasSuffix(name, "*") {
		return ""
	}
	switch path.Ext(name) {
	case ".go", ".mod":
		return "//"
	case ".md":
		return "-"
	case ".json", ".sum", ".txt":
		return ""
	}
	return "#"
}
