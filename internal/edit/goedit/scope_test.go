package goedit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const scopeSource = `package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	cr "sigs.k8s.io/controller-runtime"
	"example.org/fleet/internal/controller"
)

var (
	sch  = runtime.NewScheme()
	logs = cr.Log.WithName("setup")
)

func init() {
	must(AddToScheme(sch))
	// +kubebuilder:scaffold:scheme
}

func main() {
	logs := "a string"
	early := 1
	// +kubebuilder:scaffold:early
	manager, err := cr.NewManager(nil)
	_ = controller.New(manager)
	if err == nil {
		inner, _ := (cr.NewManager(nil))
		AddToScheme(inner.GetScheme(), inner)
	}
	for _, controller := range list {
		// +kubebuilder:scaffold:loop
	}
	// +kubebuilder:scaffold:builder
	manager.Start()
}

func setup(ctx context.Context, m cr.Manager) {
	func(s *runtime.Scheme) { AddToScheme(s) }(sch)
	// +kubebuilder:scaffold:setup
}
`

func TestScope(t *testing.T) {
	t.Parallel()
	managers := []Symbol{{"sigs.k8s.io/controller-runtime/pkg/manager", "New"}, {"sigs.k8s.io/controller-runtime", "NewManager"}}
	schemes := Symbol{"k8s.io/apimachinery/pkg/runtime", "NewScheme"}
	logger := Symbol{"sigs.k8s.io/controller-runtime", "Log.WithName"}
	f, err := Parse("main.go", []byte(scopeSource))
	if err != nil {
		t.Fatal(err)
	}
	type names struct{ Manager, Scheme, Logger, Param, Argument string }
	tests := map[string]names{
		"scheme":  {Scheme: "sch", Logger: "logs", Argument: "sch"},
		"early":   {Scheme: "sch", Logger: "logs"}, // the manager is not declared yet
		"builder": {Manager: "manager", Scheme: "sch", Logger: "logs"},
		"setup":   {Scheme: "sch", Logger: "logs", Param: "m"}, // the closure's s is not known outside of it
	}
	for marker, want := range tests {
		s := f.ScopeAt(Marker(marker))
		got := names{s.Assigned(managers...), s.Assigned(schemes), s.Assigned(logger),
			s.Param(Symbol{"sigs.k8s.io/controller-runtime", "Manager"}), s.Argument("AddToScheme")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", marker, diff)
		}
	}
	if fn, name := f.Assigned(managers...); fn != "main" || name != "manager" {
		t.Errorf("the manager is %s in %s", name, fn)
	}
	if name := f.PackageVar(schemes); name != "sch" {
		t.Errorf("the scheme is %s", name)
	}
	if f.ScopeAt(Marker("none")) != nil {
		t.Error("got a scope without an anchor")
	}
	early := f.ScopeAt(Marker("early"))
	for name, want := range map[string]bool{"early": true, "sch": true, "manager": false, "main": false, "cr": false, "nil": false} {
		if early.Variable(name) != want {
			t.Errorf("%s is a variable: %t", name, !want)
		}
	}
}

func TestImportIsNotHidden(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		anchors []Anchor
		want    string
	}{
		"nowhere": {nil, "controller"},
		"visible": {[]Anchor{Marker("builder")}, "controller"},
		"hidden":  {[]Anchor{Marker("none"), Marker("loop")}, "controller2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("main.go", []byte(scopeSource))
			if err != nil {
				t.Fatal(err)
			}
			const path = "example.org/fleet/internal/controller"
			if got := f.ImportAt("", path, test.anchors...); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := f.ImportAt("", path, test.anchors...); got != test.want {
				t.Errorf("again: got %s, want %s", got, test.want)
			}
		})
	}
}

func TestImportAvoidsNames(t *testing.T) {
	t.Parallel()
	f, err := Parse("main.go", []byte("package main\n"))
	if err != nil {
		t.Fatal(err)
	}
	f.Avoid(map[string]bool{"os": true})
	f.Import("", "io")
	if got := f.Import("", "os"); got != "os2" {
		t.Errorf("got %s", got)
	}
}

func TestDeclares(t *testing.T) {
	t.Parallel()
	f, err := Parse("a.go", []byte("package a\n\nimport \"os\"\n\ntype T struct{ f int }\n\nvar a, _ = os.Args, b()\nconst c = 1\n\nfunc init() {}\nfunc b() { x := 1 }\nfunc (t T) m() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"T": 5, "a": 7, "c": 8, "b": 11}, f.Declares()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Package() != "a" || !f.Mentions("x") || f.Mentions("y") {
		t.Error("Package or Mentions is wrong")
	}
}

// TestNamesOfOddCode checks code that parses but does not compile.
func TestNamesOfOddCode(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"package p\nimport m \"m\"\nvar a = m.F(), m.F()\nfunc main() { a.b, c = m.F(); d = m.F(), m.F() }\n",
		"package p\nimport . \"m\"\nfunc main() { x := F(); var y int = z }\n",
		"package p\ntype T T\nvar x = x\nfunc main() { goto l; for { break m } }\n",
	} {
		f, err := Parse("p.go", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		f.Assigned(Symbol{"m", "F"})
		f.PackageVar(Symbol{"m", "F"})
		if s := f.ScopeAt(EndOfFunc("main")); s == nil || s.Variable("nothing") {
			t.Errorf("no scope or a wrong one in %s", src)
		}
	}
}

// FuzzScope checks that all code that parses has scopes, and that an import
// added for a place is not hidden there.
func FuzzScope(f *testing.F) {
	f.Add([]byte(scopeSource))
	f.Add([]byte("package p\nimport . \"m\"\nfunc main() { x := F(); var y int = z }\n"))
	f.Add([]byte("package p\ntype T[P any] struct{ T[P] }\nvar x = x\nfunc main() { goto l; for os := range 3 { break m } }\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse("p.go", src)
		if err != nil {
			t.Skip()
		}
		m := Symbol{"m", "F"}
		file.Assigned(m)
		file.PackageVar(m)
		file.Declares()
		anchors := []Anchor{Marker("builder"), EndOfFunc("main")}
		if s := file.ScopeAt(anchors...); s != nil {
			s.Assigned(m)
			s.Param(m)
			s.Argument("AddToScheme")
		}
		local := file.ImportAt("", "os", anchors...)
		if _, err := file.Bytes(); err != nil {
			return
		}
		if s := file.ScopeAt(anchors...); s != nil && s.hides(local) {
			t.Errorf("the import %s is hidden in\n%s", local, src)
		}
	})
}
