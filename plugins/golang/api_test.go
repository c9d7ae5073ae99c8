package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

func TestOtherPlural(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Fleet", Plural: "armadas", API: &project.API{}, Controller: true}))
	x.contains("api/v1/fleet_types.go", "// +kubebuilder:resource:path=armadas,scope=Cluster\n")
	x.contains("internal/controller/fleet_controller.go", "resources=armadas/status,verbs", `Named("fleet")`)
}

// TestVariableHidesNothing checks that the variable for an object never hides a name that
// the reconciler uses: each such name could be a kind in lower case.
func TestVariableHidesNothing(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	const name = "internal/controller/frigate_controller.go"
	f, err := parser.ParseFile(token.NewFileSet(), name, x.read(name), 0)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	for name := range used {
		kind := strings.ToUpper(name[:1]) + name[1:]
		r := project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: kind}
		if name != "frigate" && r.VarName() == name && !ast.IsExported(name) && !onlyField(f, name) {
			t.Errorf("the variable for kind %s is called %s, which the code around it uses", kind, name)
		}
	}
}

// onlyField reports whether name occurs only after the dot of a selector.
func onlyField(f *ast.File, name string) bool {
	only := true
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				only = only && (!ok || id.Name != name)
				return true
			})
			return false
		case *ast.Ident:
			only = only && n.Name != name
		}
		return only
	})
	return only
}

func TestStorageMarkerStays(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	content := strings.Replace(x.read("api/v1/frigate_types.go"), "// +kubebuilder:subresource", "// "+storageMarker+"\n// +kubebuilder:subresource", 1)
	x.write("api/v1/frigate_types.go", content)
	x.apply(x.createAPI(project.Resource{Group: "ship", Domain: "example.org", Version: "v2", Kind: "Frigate", API: &project.API{Namespaced: true}}))
	if got := x.read("api/v1/frigate_types.go"); got != content {
		t.Errorf("a types file that has the marker was changed:\n%s", cmp.Diff(content, got))
	}
}

func TestUnreadableForm(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"package v1\n":        "api/v1 has no variable with the group and version ship.example.org/v1",
		"package v1\nvar (\n": "api/v1/groupversion_info.go:2",
	} {
		x := start(t, map[string]string{"api/v1/groupversion_info.go": src})
		x.apply(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}})
		if _, err := x.plan(x.createAPI(frigate())); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", src, err, want)
		}
	}
}

func TestWiringFindsItsPlace(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	bare := strings.NewReplacer("// +kubebuilder:scaffold:imports", "", "// +kubebuilder:scaffold:scheme", "",
		"// +kubebuilder:scaffold:builder", "").Replace(x.read("cmd/main.go"))
	mine := strings.Replace(bare, "\tsetupLog.Info(\"starting",
		"\tif err := (&ctrls.FrigateReconciler{}).SetupWithManager(mgr); err != nil {\n\t\tpanic(err)\n\t}\n\tsetupLog.Info(\"starting", 1)
	mine = strings.Replace(mine, "import (\n", "import (\n\tctrls \"example.org/fleet/internal/controller\"\n", 1)
	tests := map[string]struct {
		main string
		want []string
		err  string
	}{
		"markers missing":       {main: bare, want: []string{"utilruntime.Must(shipv1.AddToScheme(scheme))\n", "(&controller.FrigateReconciler{\n"}},
		"set up in another way": {main: mine, want: []string{"utilruntime.Must(shipv1.AddToScheme(scheme))\n", "(&ctrls.FrigateReconciler{})"}},
		"no place":              {main: "package main\n\nfunc main() {}\n", err: "cmd/main.go has none of these: "},
		"broken":                {main: "package main\n\nfunc main() {\n", err: "cmd/main.go:3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, map[string]string{"cmd/main.go": test.main})
			x.cfg.Repo = "example.org/fleet"
			p, err := x.plan(x.createAPI(frigate()))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Read("cmd/main.go")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if strings.Count(string(got), want) != 1 {
					t.Errorf("want %q once in:\n%s", want, got)
				}
			}
			if strings.Count(string(got), "FrigateReconciler") != 1 {
				t.Errorf("the controller is set up twice:\n%s", got)
			}
		})
	}
}

// TestTypesRegisterThemselves adds a kind to a package that registers its types with the manager's scheme.
func TestTypesRegisterThemselves(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	x.write("api/v1/known.go", "package v1\n\nvar Known = runtime.NewScheme()\n\nfunc init() { _ = AddToScheme(Known) }\n")
	x.replaced("cmd/main.go", `(?s)func init\(\) {.*?\n}\n`, "var _ = shipv1.Known\n")
	galley := frigate()
	galley.Kind = "Galley"
	x.apply(x.createAPI(galley))
	if main := x.read("cmd/main.go"); strings.Contains(main, "AddToScheme") || !strings.Contains(main, "GalleyReconciler{") {
		t.Errorf("got a second registration, or no controller:\n%s", main)
	}
}

// TestSecondVersionOfMovedTypes checks the warning for types that the user moved: operon
// does not know whether they have the marker.
func TestSecondVersionOfMovedTypes(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	x.write("api/v1/frigate_types.go", "")
	v2 := project.Resource{Group: "ship", Domain: "example.org", Version: "v2", Kind: "Frigate", API: &project.API{Namespaced: true}}
	p := x.apply(x.createAPI(v2))
	if w := p.Warnings(); len(w) != 1 || w[0].Rule != "storage-version" || w[0].File != "api/v1/frigate_types.go" {
		t.Errorf("warnings: %v", w)
	}
}
