package goedit

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// moved returns the package of a name after the controllers moved to a folder for each
// group: names of Deployment moved to apps.
func moved(name string) Package {
	if strings.Contains(name, "Deployment") {
		return Package{Path: "x.org/f/internal/controller/apps", Name: "apps", Alias: "appscontroller"}
	}
	return Package{Path: "x.org/f/internal/controller/ship", Name: "ship", Alias: "shipcontroller"}
}

func TestReimport(t *testing.T) {
	t.Parallel()
	old := Package{Path: "x.org/f/internal/controller", Name: "controller"}
	tests := []struct{ name, src, want string }{
		{
			"the scaffolded name is replaced with the new one",
			"package main\n\nimport (\n\t\"os\"\n\n\t\"x.org/f/internal/controller\"\n\t\"x.org/f/internal/a\"\n)\n\nvar r = controller.FrigateReconciler{} // controller\n",
			"package main\n\nimport (\n\t\"os\"\n\n\tshipcontroller \"x.org/f/internal/controller/ship\"\n\t\"x.org/f/internal/a\"\n)\n\nvar r = shipcontroller.FrigateReconciler{} // controller\n",
		},
		{
			"imports stay sorted",
			"package main\n\nimport (\n\t\"x.org/f/internal/controller\"\n\t\"x.org/f/internal/controller/aa\"\n)\n\nvar r, a = controller.R{}, aa.A\n",
			"package main\n\nimport (\n\t\"x.org/f/internal/controller/aa\"\n\tshipcontroller \"x.org/f/internal/controller/ship\"\n)\n\nvar r, a = shipcontroller.R{}, aa.A\n",
		},
		{
			"a name chosen by the user stays",
			"package main\n\nimport mine \"x.org/f/internal/controller\"\n\nvar r = mine.R{}\n",
			"package main\n\nimport mine \"x.org/f/internal/controller/ship\"\n\nvar r = mine.R{}\n",
		},
		{
			"a name that is taken",
			"package main\n\nimport \"x.org/f/internal/controller\"\n\nvar shipcontroller = controller.R{}\n",
			"package main\n\nimport controller \"x.org/f/internal/controller/ship\"\n\nvar shipcontroller = controller.R{}\n",
		},
		{
			"a local variable with that name is not an import",
			"package main\n\nimport \"x.org/f/internal/controller\"\n\nvar r = controller.R{}\n\nfunc f(controller T) { controller.R() }\n",
			"package main\n\nimport shipcontroller \"x.org/f/internal/controller/ship\"\n\nvar r = shipcontroller.R{}\n\nfunc f(controller T) { controller.R() }\n",
		},
		{
			"names that moved to two packages",
			"package main\n\nimport (\n\t\"x.org/f/internal/controller\"\n)\n\nvar a = controller.FrigateReconciler{}\nvar b = controller.DeploymentReconciler{}\n",
			"package main\n\nimport (\n\tappscontroller \"x.org/f/internal/controller/apps\"\n\tshipcontroller \"x.org/f/internal/controller/ship\"\n)\n\nvar a = shipcontroller.FrigateReconciler{}\nvar b = appscontroller.DeploymentReconciler{}\n",
		},
		{
			"only names of the second package",
			"package main\n\nimport \"x.org/f/internal/controller\"\n\nvar b = controller.DeploymentReconciler{}\n",
			"package main\n\nimport appscontroller \"x.org/f/internal/controller/apps\"\n\nvar b = appscontroller.DeploymentReconciler{}\n",
		},
		{"for its effects", "package main\n\nimport _ \"x.org/f/internal/controller\"\n", "package main\n\nimport _ \"x.org/f/internal/controller/ship\"\n"},
		{
			"with a dot", "package main\n\nimport . \"x.org/f/internal/controller\"\n\nvar _ = Deployment\n",
			"",
		},
		{"not imported", "package main\n\nvar controller = 1\n", "package main\n\nvar controller = 1\n"},
		{
			"an unformatted file stays unformatted",
			"package main\n\nimport \"x.org/f/internal/controller\"\n\nvar r  = controller.R{}\n",
			"package main\n\nimport shipcontroller \"x.org/f/internal/controller/ship\"\n\nvar r  = shipcontroller.R{}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("main.go", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			err = f.MoveImports(old, moved)
			if tt.want == "" {
				if err == nil || !strings.Contains(err.Error(), "main.go imports x.org/f/internal/controller with a dot") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Bytes()
			if d := cmp.Diff(tt.want, string(got)); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}

// TestMoveImportsMergesPackages moves two packages into one.
func TestMoveImportsMergesPackages(t *testing.T) {
	t.Parallel()
	src := "package main\n\nimport (\n\tappscontroller \"x.org/f/internal/controller/apps\"\n\tshipcontroller \"x.org/f/internal/controller/ship\"\n)\n\nvar a = shipcontroller.FrigateReconciler{}\nvar b = appscontroller.DeploymentReconciler{}\n"
	want := "package main\n\nimport (\n\t\"x.org/f/internal/controller\"\n)\n\nvar a = controller.FrigateReconciler{}\nvar b = controller.DeploymentReconciler{}\n"
	f, err := Parse("main.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"FrigateReconciler", "DeploymentReconciler"} {
		if err := f.MoveImports(moved(old), func(string) Package { return Package{Path: "x.org/f/internal/controller", Name: "controller"} }); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := f.Bytes()
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSetPackage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, src, want string }{
		{"a.go", "// Package controller is mine.\npackage controller // here\n", "// Package ship is mine.\npackage ship // here\n"},
		{"a_test.go", "/*\nLicence\n*/\n\npackage controller_test\n", "/*\nLicence\n*/\n\npackage ship_test\n"},
		{"a.go", "// Package controllers are others.\npackage controller\n", "// Package controllers are others.\npackage ship\n"},
		{"a.go", "package ship\n", "package ship\n"},
	} {
		f, err := Parse(tt.path, []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetPackage("ship"); err != nil {
			t.Fatal(err)
		}
		got, _ := f.Bytes()
		if d := cmp.Diff(tt.want, string(got)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestFree(t *testing.T) {
	t.Parallel()
	f, err := Parse("a.go", []byte(`package p

import "fmt"

type T struct{ field Other }

func (t *T) Method(arg string) {
	local := helper(arg)
	fmt.Println(local, t.field, T{field: value}, map[string]int{key: 1})
loop:
	for range list {
		continue loop
	}
}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"Other": true, "helper": true, "value": true, "key": true, "list": true}
	got := f.Free()
	for _, own := range []string{"string", "int"} {
		delete(got, own)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRepath(t *testing.T) {
	t.Parallel()
	src := `package controller

import (
	"os"
	"path/filepath"
)

var (
	a = filepath.Join("..", "..", "config", "crd", "bases")
	b = filepath.Join("..", name, "x")
	c = filepath.Join("testdata", "..", "x")
	d, _ = os.ReadFile("../../config/x.yaml")
	e = "../is this a path?"
	f = filepath.Join("../..", "hack")
	h = filepath.Join(".", "..", "hack")
	i = "./../config"
	g = filepath.Join("..", "api")
)
`
	file, err := Parse("x_test.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	move := func(p string, joined bool) string {
		switch {
		case p == "../api":
			return "../../elsewhere/api"
		case joined || strings.Contains(p, "config"):
			return "../" + path.Clean(p)
		}
		return p
	}
	if err := file.RewritePaths(move); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		`"..", "..", "config"`, `"..", "..", "..", "config"`,
		`"..", name`, `"..", "..", name`,
		`"../../config/x.yaml"`, `"../../../config/x.yaml"`,
		`"../..", "hack"`, `"../../..", "hack"`,
		`".", "..", "hack"`, `"..", "..", "hack"`,
		`"./../config"`, `"../../config"`,
		`"..", "api"`, `"..", "..", "elsewhere", "api"`,
	).Replace(src)
	got, _ := file.Bytes()
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	back := func(p string, joined bool) string {
		switch {
		case p == "../../elsewhere/api":
			return "../api"
		case !joined && !strings.Contains(p, "config"):
			return p
		}
		return strings.TrimPrefix(p, "../")
	}
	if err := file.RewritePaths(back); err != nil {
		t.Fatal(err)
	}
	got, _ = file.Bytes()
	clean := strings.NewReplacer(`".", "..", "hack"`, `"..", "hack"`, `"./../config"`, `"../config"`)
	if d := cmp.Diff(clean.Replace(src), string(got)); d != "" {
		t.Errorf("back (-want +got):\n%s", d)
	}
}
