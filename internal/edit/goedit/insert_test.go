package goedit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

func TestInsert(t *testing.T) {
	t.Parallel()
	const setup = "if err := setup(mgr); err != nil {\n\tos.Exit(1)\n}"
	tests := []struct {
		name    string
		src     string // a func body of main, or a whole file when it starts with "package"
		text    string
		anchors []Anchor
		want    string
		unclean bool
	}{
		{
			name:    "above the marker",
			src:     "\ta()\n\n\t// +kubebuilder:scaffold:builder\n\n\tmgr.Start(ctx)\n",
			text:    setup,
			anchors: []Anchor{Marker("builder"), BeforeCall("main", "mgr.Start")},
			want:    "\ta()\n\n\tif err := setup(mgr); err != nil {\n\t\tos.Exit(1)\n\t}\n\t// +kubebuilder:scaffold:builder\n\n\tmgr.Start(ctx)\n",
		},
		{
			name:    "above the marker in its old form, nested",
			src:     "\tif x {\n\t\t//+kubebuilder:scaffold:builder\n\t}\n",
			text:    "b()\n",
			anchors: []Anchor{Marker("builder")},
			want:    "\tif x {\n\t\tb()\n\t\t//+kubebuilder:scaffold:builder\n\t}\n",
		},
		{
			name:    "a marker in a string or after code does not count",
			src:     "\ts := `\n// +kubebuilder:scaffold:builder\n`\n\ta(s) // +kubebuilder:scaffold:builder\n\n\tmgr.Start(ctx)\n",
			text:    "b()",
			anchors: []Anchor{Marker("builder"), BeforeCall("main", "mgr.Start")},
			want:    "\ts := `\n// +kubebuilder:scaffold:builder\n`\n\ta(s) // +kubebuilder:scaffold:builder\n\n\tb()\n\n\tmgr.Start(ctx)\n",
		},
		{
			name:    "before a call, above its comment",
			src:     "\ta()\n\t// start it\n\tif err := mgr.Start(ctx); err != nil {\n\t\tos.Exit(1)\n\t}\n",
			text:    "b()\nc()",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "\ta()\n\tb()\n\tc()\n\t// start it\n\tif err := mgr.Start(ctx); err != nil {\n\t\tos.Exit(1)\n\t}\n",
		},
		{
			name:    "a comment after the previous statement is not above the call",
			src:     "\ta() // of a\n\tmgr.Start(ctx)\n",
			text:    "b()",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "\ta() // of a\n\tb()\n\tmgr.Start(ctx)\n",
		},
		{
			name:    "before the outermost statement",
			src:     "\tmgr := new()\n\tg.Go(func() error {\n\t\treturn mgr.Start(ctx)\n\t})\n",
			text:    "b(mgr)",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "\tmgr := new()\n\tb(mgr)\n\tg.Go(func() error {\n\t\treturn mgr.Start(ctx)\n\t})\n",
		},
		{
			name:    "inside the block that declares the manager",
			src:     "\tif mgr, err := new(); err == nil {\n\t\tswitch {\n\t\tcase x:\n\t\t\tmgr.Start(ctx)\n\t\t}\n\t}\n",
			text:    "b(mgr)",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "\tif mgr, err := new(); err == nil {\n\t\tb(mgr)\n\t\tswitch {\n\t\tcase x:\n\t\t\tmgr.Start(ctx)\n\t\t}\n\t}\n",
		},
		{
			name:    "inside the case that declares the manager",
			src:     "\tswitch {\n\tcase x:\n\t\tmgr := new()\n\t\tmgr.Start(ctx)\n\t}\n",
			text:    "b(mgr)",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "\tswitch {\n\tcase x:\n\t\tmgr := new()\n\t\tb(mgr)\n\t\tmgr.Start(ctx)\n\t}\n",
		},
		{
			name:    "a call with the same name on another variable does not count",
			src:     "\tother.Start(ctx)\n\tx.mgr.Start(ctx)\n\t(mgr.Start)(ctx)\n",
			text:    "b()",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "\tother.Start(ctx)\n\tx.mgr.Start(ctx)\n\tb()\n\t(mgr.Start)(ctx)\n",
		},
		{
			name:    "after the last call",
			src:     "\tmust(a.AddToScheme(s))\n\tmust(b.AddToScheme(s)) // b\n\n\tc()\n",
			text:    "must(x.AddToScheme(s))",
			anchors: []Anchor{AfterCall("main", "AddToScheme")},
			want:    "\tmust(a.AddToScheme(s))\n\tmust(b.AddToScheme(s)) // b\n\tmust(x.AddToScheme(s))\n\n\tc()\n",
		},
		{
			name:    "after a call and its checks",
			src:     "\terr = a.AddToScheme(s)\n\tExpect(err).NotTo(HaveOccurred())\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tc()\n",
			text:    "err = x.AddToScheme(s)\nExpect(err).NotTo(HaveOccurred())",
			anchors: []Anchor{AfterCall("main", "AddToScheme")},
			want: "\terr = a.AddToScheme(s)\n\tExpect(err).NotTo(HaveOccurred())\n\tif err != nil {\n\t\tpanic(err)\n\t}\n" +
				"\terr = x.AddToScheme(s)\n\tExpect(err).NotTo(HaveOccurred())\n\tc()\n",
		},
		{
			name:    "at the end of a function",
			src:     "\ta()\n\t// last words\n",
			text:    "b()",
			anchors: []Anchor{EndOfFunc("main")},
			want:    "\ta()\n\t// last words\n\tb()\n",
		},
		{
			name:    "before the return at the end of a function",
			src:     "package p\n\nfunc setup() error {\n\ta()\n\n\t// fine\n\treturn nil\n}\n",
			text:    "b()",
			anchors: []Anchor{EndOfFunc("setup")},
			want:    "package p\n\nfunc setup() error {\n\ta()\n\n\tb()\n\n\t// fine\n\treturn nil\n}\n",
		},
		{
			name:    "a method of that name is another function",
			src:     "package p\n\nfunc (x) init() {\n}\n\nfunc init() {\n}\n",
			text:    "b()",
			anchors: []Anchor{EndOfFunc("init")},
			want:    "package p\n\nfunc (x) init() {\n}\n\nfunc init() {\n\tb()\n}\n",
		},
		{
			name:    "the second init has the call",
			src:     "package p\n\nfunc init() {\n}\n\nfunc init() {\n\tAddToScheme(s)\n}\n",
			text:    "b()",
			anchors: []Anchor{AfterCall("init", "AddToScheme"), EndOfFunc("init")},
			want:    "package p\n\nfunc init() {\n}\n\nfunc init() {\n\tAddToScheme(s)\n\tb()\n}\n",
		},
		{
			name:    "the function of a test suite",
			src:     "package p\n\nvar _ = BeforeSuite(func() {\n\ta()\n})\n",
			text:    "b()",
			anchors: []Anchor{EndOfFunc("BeforeSuite")},
			want:    "package p\n\nvar _ = BeforeSuite(func() {\n\ta()\n\tb()\n})\n",
		},
		{
			name:    "empty body on one line",
			src:     "package p\n\nfunc init() {}\n",
			text:    "b()",
			anchors: []Anchor{EndOfFunc("init")},
			want:    "package p\n\nfunc init() {\n\tb()\n}\n",
		},
		{
			name:    "comment in a body on one line",
			src:     "package p\n\nfunc init() { /* nothing */ }\n",
			text:    "b()",
			anchors: []Anchor{EndOfFunc("init")},
			want:    "package p\n\nfunc init() {\n\t/* nothing */\n\tb()\n}\n",
		},
		{
			name:    "body on one line",
			src:     "package p\n\nfunc main() { a(); mgr.Start(ctx) }\n",
			text:    "b()",
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want:    "package p\n\nfunc main() {\n\ta()\n\tb()\n\tmgr.Start(ctx)\n}\n",
		},
		{
			name:    "body on one line, after a call",
			src:     "package p\n\nfunc init() { AddToScheme(s) }\n",
			text:    "b()",
			anchors: []Anchor{AfterCall("init", "AddToScheme")},
			want:    "package p\n\nfunc init() {\n\tAddToScheme(s)\n\tb()\n}\n",
		},
		{
			name:    "several statements on a line",
			src:     "\ta(); mgr.Start(ctx); c()\n",
			text:    "b()",
			anchors: []Anchor{AfterCall("main", "mgr.Start")},
			want:    "\ta(); mgr.Start(ctx)\n\tb()\n\tc()\n",
			unclean: true,
		},
		{
			name:    "a block comment that ends on another line",
			src:     "\tAddToScheme(s) /* one\n\ttwo */\n",
			text:    "b()",
			anchors: []Anchor{AfterCall("main", "AddToScheme")},
			want:    "\tAddToScheme(s) /* one\n\ttwo */\n\tb()\n",
		},
		{
			name:    "a raw string and empty lines keep their white space",
			src:     "\tif x {\n\t\t// +kubebuilder:scaffold:builder\n\t}\n",
			text:    "b(`\n  raw\n`,\n\tc)\n\nd()",
			anchors: []Anchor{Marker("builder")},
			want:    "\tif x {\n\t\tb(`\n  raw\n`,\n\t\t\tc)\n\n\t\td()\n\t\t// +kubebuilder:scaffold:builder\n\t}\n",
		},
		{
			name:    "comments alone",
			src:     "\ta()\n",
			text:    "// one\n// two",
			anchors: []Anchor{EndOfFunc("main")},
			want:    "\ta()\n\t// one\n\t// two\n",
		},
		{
			name:    "CRLF",
			src:     "package p\r\n\r\nfunc main() {\r\n\ta(`x\r\n`)\r\n\tmgr.Start(ctx)\r\n}\r\n",
			text:    setup,
			anchors: []Anchor{BeforeCall("main", "mgr.Start")},
			want: "package p\r\n\r\nfunc main() {\r\n\ta(`x\r\n`)\r\n\tif err := setup(mgr); err != nil {\r\n\t\tos.Exit(1)\r\n\t}\r\n" +
				"\tmgr.Start(ctx)\r\n}\r\n",
			unclean: true,
		},
		{
			name:    "line directives do not change places",
			src:     "\ta()\n//line other.go:1\n\tmgr.Start(ctx)\n",
			text:    "b()",
			anchors: []Anchor{AfterCall("main", "a")},
			want:    "\ta()\n\tb()\n//line other.go:1\n\tmgr.Start(ctx)\n",
		},
		{
			name:    "already present, in another format and without an anchor",
			src:     "\tif err := setup(\n\t\tmgr,\n\t); err != nil { // mine\n\t\tos.Exit(1)\n\t}\n",
			text:    setup,
			anchors: []Anchor{Marker("builder")},
			want:    "\tif err := setup(\n\t\tmgr,\n\t); err != nil { // mine\n\t\tos.Exit(1)\n\t}\n",
		},
		{
			name:    "a longer expression is not the same code",
			src:     "\tx.b()\n\tb().c()\n\tif b() {\n\t}\n\tfor b() {\n\t}\n\t// +kubebuilder:scaffold:builder\n",
			text:    "b()",
			anchors: []Anchor{Marker("builder")},
			want:    "\tx.b()\n\tb().c()\n\tif b() {\n\t}\n\tfor b() {\n\t}\n\tb()\n\t// +kubebuilder:scaffold:builder\n",
		},
		{
			name:    "a comment with the same code is not the code",
			src:     "\t/* b() */\n\t// b()\n\n\t// +kubebuilder:scaffold:builder\n",
			text:    "b()",
			anchors: []Anchor{Marker("builder")},
			want:    "\t/* b() */\n\t// b()\n\n\tb()\n\t// +kubebuilder:scaffold:builder\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.HasPrefix(tt.src, "package") {
				tt.src = "package p\n\nfunc main() {\n" + tt.src + "}\n"
				tt.want = "package p\n\nfunc main() {\n" + tt.want + "}\n"
			}
			if formatted([]byte(tt.src)) == tt.unclean {
				t.Errorf("unclean = %v", tt.unclean)
			}
			got := edited(t, tt.src, func(f *File) error { return f.Insert(tt.text, tt.anchors...) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("source (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInsertErrors(t *testing.T) {
	t.Parallel()
	const src = "package main\n\nfunc main() {\n\tx := 1\n\t_ = x\n}\n"
	tests := []struct {
		name    string
		text    string
		anchors []Anchor
		want    string
	}{
		{
			name: "one anchor",
			text: "b()", anchors: []Anchor{EndOfFunc("init")},
			want: "cmd/main.go has no function init",
		},
		{
			name: "two anchors",
			text: "b()", anchors: []Anchor{Marker("builder"), BeforeCall("main", "mgr.Start")},
			want: "cmd/main.go has neither the marker +kubebuilder:scaffold:builder nor a call of mgr.Start in func main",
		},
		{
			name: "three anchors",
			text: "b()", anchors: []Anchor{Marker("scheme"), AfterCall("init", "AddToScheme"), EndOfFunc("init")},
			want: "cmd/main.go has none of these: the marker +kubebuilder:scaffold:scheme, a call of AddToScheme in func init, the function init",
		},
		{
			name: "lines that do not parse",
			text: "if {", anchors: []Anchor{EndOfFunc("main")},
			want: "cmd/main.go: the new lines do not parse at the function main",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("cmd/main.go", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			f.Import("", "example.com/b")
			err = f.Insert(tt.text, tt.anchors...)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			hint := "add these lines by hand where they belong, then repeat the command:\n\n\timport \"example.com/b\"\n\n\t" + tt.text
			if diff := cmp.Diff(hint, fault.HintOf(err)); diff != "" {
				t.Errorf("hint (-want +got):\n%s", diff)
			}
			if _, later := f.Bytes(); !errors.Is(later, err) {
				t.Errorf("Bytes returns %v", later)
			}
		})
	}
}

// TestCompose applies all edits of one `create api` to one file.
func TestCompose(t *testing.T) {
	t.Parallel()
	const src = `package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
	// +kubebuilder:scaffold:imports
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))

	// +kubebuilder:scaffold:scheme
}

func main() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	if err != nil {
		os.Exit(1)
	}

	// +kubebuilder:scaffold:builder

	if err := mgr.Start(ctx); err != nil {
		os.Exit(1)
	}
}
`
	const want = `package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	shipv1 "example.com/op/api/v1"
	"example.com/op/internal/controller"
	// +kubebuilder:scaffold:imports
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))

	utilruntime.Must(shipv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	if err != nil {
		os.Exit(1)
	}

	if err := controller.Frigate(mgr); err != nil {
		os.Exit(1)
	}
	if err := controller.Sloop(mgr); err != nil {
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.Start(ctx); err != nil {
		os.Exit(1)
	}
}
`
	got := edited(t, src, func(f *File) error {
		api, pkg := f.Import("shipv1", "example.com/op/api/v1"), f.Import("", "example.com/op/internal/controller")
		if f.Uses("example.com/op/internal/controller", "Frigate") != (f.added == nil) {
			t.Errorf("Uses is wrong, %v was added", f.added)
		}
		if err := f.Insert("utilruntime.Must("+api+".AddToScheme(scheme))", Marker("scheme")); err != nil {
			return err
		}
		for _, kind := range []string{"Frigate", "Sloop"} {
			text := "if err := " + pkg + "." + kind + "(mgr); err != nil {\n\tos.Exit(1)\n}"
			if err := f.Insert(text, Marker("builder")); err != nil {
				return err
			}
		}
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
}
