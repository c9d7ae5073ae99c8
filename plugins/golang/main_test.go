package golang

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/afero"
)

func sloop() project.Resource {
	r := frigate()
	r.Kind = "Sloop"
	return r
}

// sloopSetup contains the lines that set up the controller with the manager.
func sloopSetup(manager string) string {
	return "(&controller.SloopReconciler{\n\t\tClient: " + manager + ".GetClient(),\n\t\tScheme: " + manager +
		".GetScheme(),\n\t}).SetupWithManager(" + manager + "); err != nil {\n"
}

// TestWiringUsesNamesOfUser checks that inserted lines use the names of the user's
// variables and imports, and no import that a variable hides.
func TestWiringUsesNamesOfUser(t *testing.T) {
	t.Parallel()
	const start = "\tsetupLog.Info(\"starting the manager\")\n"
	tests := map[string]struct {
		change []string // old and new, one after the other
		want   []string
	}{
		"manager":                      {[]string{"mgr", "manager"}, []string{sloopSetup("manager")}},
		"manager, no marker":           {[]string{"mgr", "manager", "// +kubebuilder:scaffold:builder", ""}, []string{sloopSetup("manager")}},
		"logger":                       {[]string{"setupLog", "log"}, []string{`log.Error(err, "cannot set up the controller", "controller", "sloop")`}},
		"logger from another function": {[]string{`ctrl.Log.WithName("setup")`, "newLogger()"}, []string{`setupLog.Error(err, "cannot set up the controller", "controller", "sloop")`}},
		"no logger": {[]string{"\tsetupLog = ctrl.Log.WithName(\"setup\")\n", "", "setupLog.Error(", "report(", "setupLog.Info(", "note("},
			[]string{`ctrl.Log.WithName("setup").Error(err, "cannot set up the controller", "controller", "sloop")`}},
		"scheme":                      {[]string{"scheme   = runtime", "sch = runtime", "(scheme)", "(sch)", " scheme,", " sch,"}, []string{"utilruntime.Must(toolsv1.AddToScheme(sch))"}},
		"alias of controller-runtime": {[]string{"\tctrl \"sigs", "\tcr \"sigs", "ctrl.", "cr.", "mgr", "m"}, []string{sloopSetup("m")}},
		"hidden import": {[]string{"\t// +kubebuilder:scaffold:builder", "\tcontroller := 1\n\t_ = controller\n\n\t// +kubebuilder:scaffold:builder"},
			[]string{`controller2 "example.org/fleet/internal/controller"`, "(&controller2.SloopReconciler{"}},
		"started elsewhere": {[]string{start, start + "\trun(mgr)\n}\n\nfunc run(m ctrl.Manager) {\n\t// +kubebuilder:scaffold:builder\n",
			"\t// +kubebuilder:scaffold:builder\n\n", "", "mgr.Start", "m.Start"}, []string{sloopSetup("m")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			x.apply(x.createAPI(frigate()))
			main := x.read(project.DefaultMainFile)
			for i := 0; i < len(test.change); i += 2 {
				if !strings.Contains(main, test.change[i]) {
					t.Fatalf("main.go lacks %q", test.change[i])
				}
				main = strings.ReplaceAll(main, test.change[i], test.change[i+1])
			}
			x.write(project.DefaultMainFile, main)
			r := sloop()
			r.Group = "tools"
			r.Version = "v1"
			x.cfg.MultiGroup = false
			e := x.createAPI(r)
			e.Resource.Path = "example.org/fleet/api/tools/v1"
			p, err := x.plan(e)
			if err != nil {
				t.Fatalf("%v\n%s", err, fault.HintOf(err))
			}
			got, err := p.Read(project.DefaultMainFile)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if strings.Count(string(got), want) != 1 {
					t.Errorf("main.go lacks %q:\n%s", want, got)
				}
			}
		})
	}
}

// TestUnknownNamesFail checks that operon does not insert lines that would not compile.
func TestUnknownNamesFail(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, new, err string }{
		"manager":               {"mgr, err := ctrl.NewManager(", "m, err := build(", "found no variable that holds the manager"},
		"scheme":                {"\tscheme   = runtime.NewScheme()\n", "\tsch = build()\n", "found no variable that holds the scheme"},
		"manager created later": {"\tmgr, err := ctrl", "\t// +kubebuilder:scaffold:builder\n\tmgr, err := ctrl", "found no variable that holds the manager"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			main := x.read(project.DefaultMainFile)
			if !strings.Contains(main, test.old) {
				t.Fatalf("main.go lacks %q", test.old)
			}
			main = strings.Replace(main, test.old, test.new, 1)
			if name == "scheme" {
				main = strings.ReplaceAll(main, "AddToScheme(scheme)", "AddToScheme(build())")
			}
			x.write(project.DefaultMainFile, main)
			_, err := x.plan(x.createAPI(frigate()))
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got %v, want %q", err, test.err)
			}
			if !strings.Contains(fault.HintOf(err), "(&controller.FrigateReconciler{") {
				t.Errorf("the hint lacks the lines:\n%s", fault.HintOf(err))
			}
		})
	}
}

// TestMainInSeveralFiles checks a main package that consists of several files in cmd.
func TestMainInSeveralFiles(t *testing.T) {
	t.Parallel()
	const (
		initFunc = "func init() {\n\tutilruntime.Must(clientgoscheme.AddToScheme(scheme))\n\n\t// +kubebuilder:scaffold:scheme\n}\n"
		vars     = "\tscheme   = runtime.NewScheme()\n\tsetupLog = ctrl.Log.WithName(\"setup\")\n"
		imports  = "package main\n\nimport (\n\tutilruntime \"k8s.io/apimachinery/pkg/util/runtime\"\n\tclientgoscheme \"k8s.io/client-go/kubernetes/scheme\"\n)\n\n"
	)
	tests := map[string]struct {
		remove string // from main.go
		files  map[string]string
		want   map[string][]string
		never  []string // not in main.go
	}{
		"init of the scheme in another file": {remove: initFunc, files: map[string]string{"cmd/scheme.go": imports + initFunc},
			want:  map[string][]string{"cmd/scheme.go": {"utilruntime.Must(shipv1.AddToScheme(scheme))\n"}, project.DefaultMainFile: {"(&controller.FrigateReconciler{"}},
			never: []string{"shipv1"}},
		"init of the scheme in another file, several init functions": {remove: initFunc, files: map[string]string{"cmd/scheme.go": imports + initFunc, "cmd/a.go": "package main\n\nfunc init() {}\n"},
			want:  map[string][]string{"cmd/scheme.go": {"utilruntime.Must(shipv1.AddToScheme(scheme))\n"}},
			never: []string{"shipv1"}},
		"variables": {remove: vars, files: map[string]string{"cmd/vars.go": "package main\n\nimport (\n\t\"k8s.io/apimachinery/pkg/runtime\"\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\nvar (\n\tsch = runtime.NewScheme()\n\tlog = ctrl.Log.WithName(\"setup\")\n)\n"},
			want: map[string][]string{project.DefaultMainFile: {"shipv1.AddToScheme(scheme)", "log.Error(err, \"cannot set up the controller\""}}},
		"wired in another file": {files: map[string]string{"cmd/controllers.go": "package main\n\nimport (\n\tshipv1 \"example.org/fleet/api/v1\"\n\tc \"example.org/fleet/internal/controller\"\n)\n\n" +
			"func setup(m ctrl.Manager) {\n\tshipv1.AddToScheme(m.GetScheme())\n\t(&c.FrigateReconciler{}).SetupWithManager(m)\n}\n"},
			never: []string{"shipv1", "FrigateReconciler"}},
		"name declared in another file": {files: map[string]string{"cmd/controllers.go": "package main\n\nvar controller, shipv1 = 1, 2\n"},
			want: map[string][]string{project.DefaultMainFile: {"controller2.FrigateReconciler", "shipv1_2.AddToScheme(scheme)"}}},
		"ignored files": {files: map[string]string{"cmd/broken.go": "package main\nfunc {", "cmd/tool.go": "package tool\n\nfunc init() { AddToScheme(x) }\n"},
			want: map[string][]string{project.DefaultMainFile: {"shipv1.AddToScheme(scheme)"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			main := x.read(project.DefaultMainFile)
			if !strings.Contains(main, test.remove) {
				t.Fatalf("main.go lacks %q", test.remove)
			}
			x.write(project.DefaultMainFile, strings.Replace(main, test.remove, "", 1))
			for _, file := range slices.Sorted(maps.Keys(test.files)) {
				x.write(file, test.files[file])
			}
			e := x.createAPI(frigate())
			x.apply(e)
			for file, parts := range test.want {
				x.contains(file, parts...)
			}
			x.lacks(project.DefaultMainFile, test.never...)
			for _, events := range [][]plugin.Event{{e}, {{Type: plugin.Init}, e}} {
				p, err := x.plan(events...)
				if err != nil || len(slices.DeleteFunc(paths(p), func(s string) bool { return s == "keep "+project.DefaultMainFile })) > 0 {
					t.Errorf("a repeat: %v, %v", paths(p), err)
				}
			}
		})
	}
}

// TestReplayDependsOnNoOtherFile checks that neither declarations nor errors in the user's
// other files affect the base of main.go.
func TestReplayDependsOnNoOtherFile(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.write("cmd/other.go", "package main\n\nvar controller, shipv1 = 1, 2\n")
	e := x.createAPI(frigate())
	x.apply(e)
	x.contains(project.DefaultMainFile, "controller2.FrigateReconciler")
	broken := x.read(project.DefaultMainFile) + "func {\n"
	for name, content := range map[string]string{"cmd/other.go": "", project.DefaultMainFile: broken} {
		x.write(name, content)
		p, err := x.plan(plugin.Event{Type: plugin.Init}, e)
		if diff := cmp.Diff([]string{"keep " + project.DefaultMainFile}, paths(p)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestRepeatKeepsWiringOfOtherTools checks that a kind that another tool has wired in
// another form is not wired again.
func TestRepeatKeepsWiringOfOtherTools(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.apply(x.createAPI(frigate()))
	main := strings.Replace(x.read(project.DefaultMainFile), "\n\t// +kubebuilder:scaffold:builder", "\n\tif err := (&controller.SloopReconciler{}).SetupWithManager(mgr); err != nil {\n\t\tpanic(err)\n\t}\n\t// +kubebuilder:scaffold:builder", 1)
	x.write(project.DefaultMainFile, main)
	x.write("api/v1/sloop_types.go", "package v1\n\ntype Sloop struct{}\n")
	x.write("internal/controller/sloop_controller.go", "package controller\n\ntype SloopReconciler struct{}\n")
	x.write("internal/controller/sloop_controller_test.go", "package controller\n\nvar x = SloopReconciler{}\n")
	f, s := x.createAPI(frigate()), x.createAPI(sloop())
	x.record()
	p, err := x.plan(plugin.Event{Type: plugin.Init}, f, s)
	if diff := cmp.Diff([]string{"keep " + project.DefaultMainFile}, paths(p)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	p, err = x.plan(s)
	if err != nil || len(paths(p)) > 0 {
		t.Errorf("create api again: %v, %v", paths(p), err)
	}
}

// record writes the current PROJECT.
func (x tester) record() {
	x.Helper()
	src, err := x.cfg.Encode(nil)
	if err != nil {
		x.Fatal(err)
	}
	x.write(project.File, string(src))
}

func TestUnreadableMain(t *testing.T) {
	t.Parallel()
	x := start(t, nil)
	x.cfg.Repo = "example.org/fleet"
	if err := afero.Fs.MkdirAll(x.fs, project.DefaultMainFile, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := x.plan(x.createAPI(frigate()))
	if err == nil || strings.Contains(err.Error(), "missing") || !strings.Contains(err.Error(), "is a folder, not a file") {
		t.Errorf("got %v", err)
	}
}

func TestMovedMain(t *testing.T) {
	t.Parallel()
	x := start(t, nil)
	x.cfg.Repo = "example.org/fleet"
	_, err := x.plan(x.createAPI(frigate()))
	if err == nil || err.Error() != "cmd/main.go is missing: cannot register a Frigate with the manager" {
		t.Fatalf("got %v", err)
	}
	for _, line := range []string{`import shipv1 "example.org/fleet/api/v1"`, "utilruntime.Must(shipv1.AddToScheme(scheme))",
		`import controller "example.org/fleet/internal/controller"`, "if err := (&controller.FrigateReconciler{"} {
		if !strings.Contains(fault.HintOf(err), line) {
			t.Errorf("the hint lacks %q:\n%s", line, fault.HintOf(err))
		}
	}
}
