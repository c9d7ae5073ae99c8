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

func TestAPIWithoutControllerAndControllerAlone(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	types := frigate()
	types.Controller = false
	p := x.apply(x.createAPI(types))
	want := []string{"create api/v1/frigate_types.go", "create api/v1/groupversion_info.go", "update cmd/main.go"}
	if diff := cmp.Diff(want, paths(p)); diff != "" {
		t.Errorf("types without a controller (-want +got):\n%s", diff)
	}
	x.lacks("cmd/main.go", "Reconciler")

	controller := frigate()
	x.cfg.Put(func() project.Resource { r := controller; r.Path = x.cfg.APIPath(r); return r }())
	controller.API = nil
	p = x.apply(plugin.Event{Type: plugin.CreateAPI, Resource: &controller})
	want = []string{"update cmd/main.go", "create internal/controller/frigate_controller.go",
		"create internal/controller/frigate_controller_test.go",
		"create internal/controller/frigate_status.go", "create internal/controller/frigate_status_test.go",
		"create internal/controller/patch_status.go", "create internal/controller/patch_status_test.go",
		"create internal/controller/specs_test.go", "create internal/controller/suite_test.go"}
	if diff := cmp.Diff(want, paths(p)); diff != "" {
		t.Errorf("controller without types (-want +got):\n%s", diff)
	}
	if n := strings.Count(x.read("cmd/main.go"), "shipv1.AddToScheme"); n != 1 {
		t.Errorf("main.go adds the types %d times", n)
	}
}

func TestScopeAndNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config   func(*project.Config)
		resource project.Resource
		types    string
		marker   string // the resource marker, or "" for none
		rbac     string
		named    string
		files    []string
	}{
		"no group": {
			resource: project.Resource{Version: "v1", Kind: "S3", API: &project.API{Namespaced: true}},
			types:    "api/v1/s3_types.go",
			rbac:     "groups=example.org,resources=s3s,verbs",
			named:    `Named("s3")`,
			files:    []string{"internal/controller/s3_controller.go"},
		},
		"cluster scope": {
			resource: project.Resource{Group: "ship", Version: "v1", Kind: "Fleet", API: &project.API{}},
			types:    "api/v1/fleet_types.go",
			marker:   "// +kubebuilder:resource:scope=Cluster\n",
			rbac:     "groups=ship.example.org,resources=fleets,verbs",
			named:    `Named("fleet")`,
			files:    []string{"internal/controller/fleet_controller.go"},
		},
		"other plural": {
			resource: project.Resource{Group: "ship", Version: "v1", Kind: "Fleet", Plural: "armadas", API: &project.API{}},
			types:    "api/v1/fleet_types.go",
			marker:   "// +kubebuilder:resource:path=armadas,scope=Cluster\n",
			rbac:     "resources=armadas/status,verbs",
			named:    `Named("fleet")`,
			files:    []string{"internal/controller/fleet_controller.go"},
		},
		"namespaced manager": {
			config:   func(c *project.Config) { c.Namespaced = true },
			resource: project.Resource{Group: "ship", Version: "v1", Kind: "Frigate", API: &project.API{Namespaced: true}},
			types:    "api/v1/frigate_types.go",
			rbac:     "groups=ship.example.org,namespace=fleet-system,resources=frigates,verbs",
			named:    `Named("frigate")`,
			files:    []string{"internal/controller/frigate_controller.go"},
		},
		"namespaced manager, cluster scope": { // a Role cannot grant access
			config:   func(c *project.Config) { c.Namespaced = true },
			resource: project.Resource{Group: "ship", Version: "v1", Kind: "Fleet", API: &project.API{}},
			types:    "api/v1/fleet_types.go",
			marker:   "// +kubebuilder:resource:scope=Cluster\n",
			rbac:     "groups=ship.example.org,resources=fleets,verbs",
			named:    `Named("fleet")`,
			files:    []string{"internal/controller/fleet_controller.go"},
		},
		"several groups": {
			config:   func(c *project.Config) { c.MultiGroup = true },
			resource: project.Resource{Group: "ship", Version: "v1", Kind: "Frigate", API: &project.API{Namespaced: true}},
			types:    "api/ship/v1/frigate_types.go",
			rbac:     "groups=ship.example.org,resources=frigates,verbs",
			named:    `Named("ship-frigate")`,
			files:    []string{"internal/controller/ship/frigate_controller.go", "internal/controller/ship/suite_test.go"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, test.config)
			r := test.resource
			r.Domain, r.Controller = "example.org", true
			x.apply(x.createAPI(r))
			if test.marker != "" {
				x.contains(test.types, test.marker)
			} else {
				x.lacks(test.types, "+kubebuilder:resource:")
			}
			x.contains(test.files[0], test.rbac, test.named)
			for _, file := range test.files {
				x.read(file)
			}
		})
	}
}

func TestNamespacedManagerReadsItsNamespaces(t *testing.T) {
	t.Parallel()
	x := initialized(t, func(c *project.Config) { c.Namespaced = true })
	x.contains("cmd/main.go", `os.Getenv("WATCH_NAMESPACE")`, "managerOptions.Cache.DefaultNamespaces = namespaces")
	initialized(t, nil).lacks("cmd/main.go", "WATCH_NAMESPACE")
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

func TestFirstVersionStaysStorageVersion(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	v1 := frigate()
	v2 := project.Resource{Group: "ship", Domain: "example.org", Version: "v2", Kind: "Frigate", API: &project.API{Namespaced: true}}
	x.apply(x.createAPI(v1))
	x.lacks("api/v1/frigate_types.go", storageMarker)
	second := x.createAPI(v2)
	x.apply(second)
	x.contains("api/v1/frigate_types.go", "// "+storageMarker+"\n")
	x.lacks("api/v2/frigate_types.go", storageMarker)

	first := x.createAPI(v1)
	for name, events := range map[string][]plugin.Event{"repeat": {second}, "replay": {{Type: plugin.Init}, first, second}} {
		p, err := x.plan(events...)
		if err != nil || len(p.Changes()) > 0 {
			t.Errorf("%s: %v, %v", name, paths(p), err)
		}
	}

	moved := initialized(t, nil)
	moved.apply(moved.createAPI(v1))
	content := strings.Replace(moved.read("api/v1/frigate_types.go"), "// +kubebuilder:subresource", "// "+storageMarker+"\n// +kubebuilder:subresource", 1)
	moved.write("api/v1/frigate_types.go", content)
	moved.apply(moved.createAPI(v2))
	if got := moved.read("api/v1/frigate_types.go"); got != content {
		t.Errorf("a types file that has the marker was changed:\n%s", cmp.Diff(content, got))
	}
}

func TestReadForm(t *testing.T) {
	t.Parallel()
	const builder = "package v1\n\nvar (\n\tGroupVersion = schema.GroupVersion{Group: \"ship.example.org\", Version: \"v1\"}\n" +
		"\tSchemeBuilder = %s\n\tAddToScheme = SchemeBuilder.AddToScheme\n)\n"
	objects, functions := "SchemeBuilder.Register(&Frigate{}, &FrigateList{})\n", "s.AddKnownTypes(GroupVersion, &Frigate{}, &FrigateList{})\n"
	tests := map[string]struct{ src, want, err string }{
		"controller-runtime's builder": {src: strings.Replace(builder, "%s", "&scheme.Builder{GroupVersion: GroupVersion}", 1), want: objects},
		"apimachinery's builder":       {src: strings.Replace(builder, "%s", "runtime.NewSchemeBuilder(add)", 1), want: functions},
		"another name": {src: strings.ReplaceAll(strings.Replace(builder, "%s", "runtime.NewSchemeBuilder(add)", 1), "\tGroupVersion", "\tSchemeGroupVersion"),
			want: strings.Replace(functions, "GroupVersion", "SchemeGroupVersion", 1)},
		"no builder": {src: "package v1\n", err: "api/v1 has no variable with the group and version ship.example.org/v1"},
		"broken":     {src: "package v1\nvar (\n", err: "api/v1/groupversion_info.go:2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, map[string]string{"api/v1/groupversion_info.go": test.src})
			x.apply(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}})
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
			types, err := p.Read("api/v1/frigate_types.go")
			if err != nil || !strings.Contains(string(types), test.want) {
				t.Errorf("got %v\n%s\nwant %s", err, types, test.want)
			}
		})
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
