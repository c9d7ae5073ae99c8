package goedit

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImport(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		src       string
		as, path  string
		want      string // the same as src when empty
		wantLocal string
		unclean   bool // src is not gofmt-clean
	}{
		{
			name:      "no import declaration",
			src:       "// Package p is one.\npackage p // really\n\nvar x int\n",
			as:        "shipv1",
			path:      "example.com/api/v1",
			want:      "// Package p is one.\npackage p // really\n\nimport (\n\tshipv1 \"example.com/api/v1\"\n)\n\nvar x int\n",
			wantLocal: "shipv1",
		},
		{
			name: "only a package clause",
			src:  "package p\n", path: "os",
			want: "package p\n\nimport (\n\t\"os\"\n)\n", wantLocal: "os",
		},
		{
			name: "package clause without a newline",
			src:  "package p", path: "os",
			want: "package p\n\nimport (\n\t\"os\"\n)", wantLocal: "os", unclean: true,
		},
		{
			name: "everything on one line",
			src:  "package p; var x int", path: "os",
			want: "package p; import \"os\"; var x int", wantLocal: "os", unclean: true,
		},
		{
			name: "a group for the module, with the marker in another place",
			src:  "package p\n\nimport (\n\t\"example.com/m\"\n\t\"example.com/m/z\"\n\n\t\"example.org/x/api\"\n\t// +kubebuilder:scaffold:imports\n)\n",
			path: "example.com/m/cache",
			want: "package p\n\nimport (\n\t\"example.com/m\"\n\t\"example.com/m/cache\"\n\t\"example.com/m/z\"\n\n\t\"example.org/x/api\"\n\t// +kubebuilder:scaffold:imports\n)\n", wantLocal: "cache",
		},
		{
			name: "single import",
			src:  "package p\n\nimport \"fmt\" // why\n\nvar x int\n", path: "os",
			want: "package p\n\nimport \"fmt\" // why\n\nimport (\n\t\"os\"\n)\n\nvar x int\n", wantLocal: "os",
		},
		{
			name: "only cgo",
			src:  "package p\n\n// #include <x.h>\nimport \"C\"\n", path: "os",
			want: "package p\n\n// #include <x.h>\nimport \"C\"\n\nimport (\n\t\"os\"\n)\n", wantLocal: "os",
		},
		{
			name: "empty block",
			src:  "package p\n\nimport ()\n", path: "os",
			want: "package p\n\nimport ()\n\nimport (\n\t\"os\"\n)\n", wantLocal: "os",
		},
		{
			name: "sorted into one group, at its start",
			src:  "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n", path: "context",
			want: "package p\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"os\"\n)\n", wantLocal: "context",
		},
		{
			name: "sorted into one group, in the middle and under a comment of a line",
			src:  "package p\n\nimport (\n\t\"fmt\" // f\n\t\"os\"\n)\n", path: "net/http",
			want: "package p\n\nimport (\n\t\"fmt\" // f\n\t\"net/http\"\n\t\"os\"\n)\n", wantLocal: "http",
		},
		{
			name: "sorted into one group, at its end",
			src:  "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n", path: "time",
			want: "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"time\"\n)\n", wantLocal: "time",
		},
		{
			name: "a separate group next to the standard library",
			src:  "package p\n\nimport (\n\t\"fmt\"\n)\n", as: "v1", path: "example.com/api/v1",
			want: "package p\n\nimport (\n\t\"fmt\"\n\n\tv1 \"example.com/api/v1\"\n)\n", wantLocal: "v1",
		},
		{
			name: "the standard library next to a group",
			src:  "package p\n\nimport (\n\tv1 \"example.com/api/v1\"\n)\n", path: "fmt",
			want: "package p\n\nimport (\n\t\"fmt\"\n\n\tv1 \"example.com/api/v1\"\n)\n", wantLocal: "fmt",
		},
		{
			name: "the group with the longest common prefix",
			src: "package p\n\nimport (\n\t\"fmt\"\n\n\t_ \"example.com/op/api/v0\"\n\n\t\"k8s.io/client-go/rest\"\n\n" +
				"\t\"example.com/op/internal/a\"\n\n\t\"example.org/x\"\n)\n",
			as: "v1", path: "example.com/op/api/v1",
			want: "package p\n\nimport (\n\t\"fmt\"\n\n\t_ \"example.com/op/api/v0\"\n\n\t\"k8s.io/client-go/rest\"\n\n" +
				"\tv1 \"example.com/op/api/v1\"\n\t\"example.com/op/internal/a\"\n\n\t\"example.org/x\"\n)\n",
			wantLocal: "v1",
		},
		{
			name: "a module without a dot",
			src:  "package p\n\nimport (\n\t\"fmt\"\n\n\t\"shop/internal/a\"\n)\n", as: "v1", path: "shop/api/v1",
			want: "package p\n\nimport (\n\t\"fmt\"\n\n\tv1 \"shop/api/v1\"\n\t\"shop/internal/a\"\n)\n", wantLocal: "v1",
		},
		{
			name: "above a comment that belongs to an import",
			src:  "package p\n\nimport (\n\t// b is needed\n\t\"example.com/b\"\n)\n", path: "example.com/a",
			want: "package p\n\nimport (\n\t\"example.com/a\"\n\t// b is needed\n\t\"example.com/b\"\n)\n", wantLocal: "a",
		},
		{
			name: "aligned comments stay aligned",
			src:  "package p\n\nimport (\n\t\"example.com/a\"   // a\n\t\"example.com/ccc\" // c\n)\n", path: "example.com/b",
			want: "package p\n\nimport (\n\t\"example.com/a\"   // a\n\t\"example.com/ccc\" // c\n\n\t\"example.com/b\"\n)\n", wantLocal: "b",
		},
		{
			name: "marker: sorted place of the group above it",
			src: "package p\n\nimport (\n\t\"fmt\"\n\n\t\"a.org/a\"\n\t\"example.com/internal/controller\"\n" +
				"\t// +kubebuilder:scaffold:imports\n)\n",
			as: "shipv1", path: "example.com/api/v1",
			want: "package p\n\nimport (\n\t\"fmt\"\n\n\t\"a.org/a\"\n\tshipv1 \"example.com/api/v1\"\n\t\"example.com/internal/controller\"\n" +
				"\t// +kubebuilder:scaffold:imports\n)\n",
			wantLocal: "shipv1",
		},
		{
			name: "marker: a separate group below unrelated imports",
			src: "package p\n\nimport (\n\t\"fmt\"\n\n\t\"a.org/a\"\n\tctrl \"sigs.k8s.io/controller-runtime\"\n" +
				"\t// +kubebuilder:scaffold:imports\n)\n",
			as: "shipv1", path: "example.com/api/v1",
			want: "package p\n\nimport (\n\t\"fmt\"\n\n\t\"a.org/a\"\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\n\tshipv1 \"example.com/api/v1\"\n" +
				"\t// +kubebuilder:scaffold:imports\n)\n",
			wantLocal: "shipv1",
		},
		{
			name: "marker: directly above it, old form",
			src:  "package p\n\nimport (\n\t\"fmt\"\n\n\t//+kubebuilder:scaffold:imports\n)\n", as: "shipv1", path: "example.com/api/v1",
			want:      "package p\n\nimport (\n\t\"fmt\"\n\n\tshipv1 \"example.com/api/v1\"\n\t//+kubebuilder:scaffold:imports\n)\n",
			wantLocal: "shipv1",
			unclean:   true,
		},
		{
			name: "marker: the standard library stays in its own group",
			src:  "package p\n\nimport (\n\t\"os\"\n\n\t\"a.org/a\"\n\t// +kubebuilder:scaffold:imports\n)\n", path: "fmt",
			want: "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"a.org/a\"\n\t// +kubebuilder:scaffold:imports\n)\n", wantLocal: "fmt",
		},
		{
			name: "marker outside the imports does not count",
			src:  "package p\n\nimport (\n\t\"os\"\n)\n\n// +kubebuilder:scaffold:imports\n", path: "fmt",
			want: "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n// +kubebuilder:scaffold:imports\n", wantLocal: "fmt",
		},
		{
			name: "CRLF",
			src:  "package p\r\n\r\nimport (\r\n\t\"fmt\"\r\n)\r\n", path: "os",
			want: "package p\r\n\r\nimport (\r\n\t\"fmt\"\r\n\t\"os\"\r\n)\r\n", wantLocal: "os", unclean: true,
		},
		{
			name: "already imported, under its own name",
			src:  "package p\n\nimport \"k8s.io/klog/v2\"\n\nvar _ = klog.Info\n", path: "k8s.io/klog/v2", wantLocal: "klog",
		},
		{
			name: "already imported, an API package",
			src:  "package p\n\nimport \"example.com/op/api/v2\"\n", as: "shipv2", path: "example.com/op/api/v2", wantLocal: "v2",
		},
		{
			name: "already imported, used under a less likely name",
			src:  "package p\n\nimport \"example.com/autoscaling/v2\"\n\nvar _ v2.X\n", path: "example.com/autoscaling/v2", wantLocal: "v2",
		},
		{
			name: "already imported, under an alias",
			src:  "package p\n\nimport mine \"example.com/api/v1\"\n", as: "shipv1", path: "example.com/api/v1", wantLocal: "mine",
		},
		{
			name: "blank and dot imports do not count",
			src:  "package p\n\nimport (\n\t. \"example.com/api/v1\"\n\t_ \"example.com/api/v1\"\n)\n", as: "shipv1", path: "example.com/api/v1",
			want:      "package p\n\nimport (\n\t. \"example.com/api/v1\"\n\t_ \"example.com/api/v1\"\n\n\tshipv1 \"example.com/api/v1\"\n)\n",
			wantLocal: "shipv1",
		},
		{
			name: "name taken by an import",
			src:  "package p\n\nimport (\n\tcontroller \"a.org/x\"\n)\n", path: "a.org/controller",
			want:      "package p\n\nimport (\n\tcontroller2 \"a.org/controller\"\n\tcontroller \"a.org/x\"\n)\n",
			wantLocal: "controller2",
		},
		{
			name: "name with a version taken by a declaration",
			src:  "package p\n\nimport (\n\t\"a.org/x\"\n)\n\nfunc shipv1() {}\n", as: "shipv1", path: "a.org/api/v1",
			want:      "package p\n\nimport (\n\tshipv1_2 \"a.org/api/v1\"\n\t\"a.org/x\"\n)\n\nfunc shipv1() {}\n",
			wantLocal: "shipv1_2",
		},
		{
			name: "name taken by a local variable, and the first number by an import",
			src:  "package p\n\nimport (\n\tship2 \"a.org/x\"\n)\n\nfunc f() { ship := 1; _ = ship }\n", path: "a.org/ship",
			want:      "package p\n\nimport (\n\tship3 \"a.org/ship\"\n\tship2 \"a.org/x\"\n)\n\nfunc f() { ship := 1; _ = ship }\n",
			wantLocal: "ship3",
		},
		{
			name: "a field and a method do not take a name",
			src:  "package p\n\ntype t struct{ ship int }\n\nfunc (t) harbour() {}\n", path: "a.org/ship",
			want:      "package p\n\nimport (\n\t\"a.org/ship\"\n)\n\ntype t struct{ ship int }\n\nfunc (t) harbour() {}\n",
			wantLocal: "ship",
		},
		{
			name: "unsorted imports in an unformatted file",
			src:  "package p\nimport (\n  \"os\"\n  \"fmt\"\n)\n", path: "net",
			want: "package p\nimport (\n  \"net\"\n  \"os\"\n  \"fmt\"\n)\n", wantLocal: "net", unclean: true,
		},
		{
			name: "block on one line",
			src:  "package p\nimport (\"os\"; \"fmt\")\n", path: "net",
			want: "package p\nimport (\"os\"; \"fmt\")\n\nimport (\n\t\"net\"\n)\n", wantLocal: "net", unclean: true,
		},
		{
			name: "comments in unusual places",
			src:  "package p\n\nimport (\n\t\"os\" /* one\n\ttwo */\n)\n", path: "time",
			want: "package p\n\nimport (\n\t\"os\" /* one\n\ttwo */\n\t\"time\"\n)\n", wantLocal: "time", unclean: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				tt.want = tt.src
			}
			if clean := formatted([]byte(tt.src)); clean == tt.unclean && !strings.Contains(tt.src, "\r") {
				t.Errorf("the test's source is gofmt-clean: %v", clean)
			}
			got := edited(t, tt.src, func(f *File) error {
				if local := f.Import(tt.as, tt.path); local != tt.wantLocal {
					t.Errorf("local name %q, want %q", local, tt.wantLocal)
				}
				return nil
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("source (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	const src = `package p

import (
	ship "example.com/ship"
	"example.com/go-dock"
	. "example.com/dot"
)

var s struct{ ship struct{ Hidden int } }

func f() { ship.Sail(dock.Moor); Float() }
`
	f, err := Parse("p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, selector string
		want           bool
	}{
		{"example.com/ship", "Sail", true},
		{"example.com/ship", "Moor", false},
		{"example.com/go-dock", "Moor", true},
		{"example.com/dot", "Float", true},
		{"example.com/dot", "Sink", false},
		{"example.com/other", "Sail", false},
	}
	for _, tt := range tests {
		if got := f.Uses(tt.path, tt.selector); got != tt.want {
			t.Errorf("Uses(%q, %q) = %v", tt.path, tt.selector, got)
		}
	}
}

func TestAssumedNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"fmt":                                 "fmt",
		"net/http":                            "http",
		"k8s.io/klog/v2":                      "klog",
		"k8s.io/api/core/v1":                  "v1",
		"k8s.io/api/autoscaling/v2":           "v2",
		"gopkg.in/yaml.v3":                    "yaml",
		"github.com/aymanbagabas/go-udiff":    "udiff",
		"github.com/nats-io/nats.go":          "nats",
		"sigs.k8s.io/controller-runtime":      "controller",
		"example.com/op/internal/controller":  "controller",
		"example.com/op/api/ship/v1alpha1":    "v1alpha1",
		"example.com/42":                      "pkg",
		"github.com/onsi/ginkgo/v2":           "ginkgo",
		"example.com/databaseuser/my_package": "my_package",
	} {
		if got := assumedNames(path)[0]; got != want {
			t.Errorf("assumedNames(%q)[0] = %q, want %q", path, got, want)
		}
	}
}

func TestImportPaths(t *testing.T) {
	f, err := Parse("p.go", []byte(`package p

import (
	"example.org/fleet/api/v1"
	. "fmt"
	"gopkg.in/yaml.v3"
	"k8s.io/klog/v2"
	runtime "example.org/other"
	"github.com/go-logr/logr"
)

var _ = klog.Info
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"v1":      "example.org/fleet/api/v1",
		".":       "fmt",
		"yaml":    "gopkg.in/yaml.v3",
		"klog":    "k8s.io/klog/v2",
		"runtime": "example.org/other",
		"logr":    "github.com/go-logr/logr",
	}
	if got := ImportPaths(f.file); !maps.Equal(got, want) {
		t.Errorf("ImportPaths = %v, want %v", got, want)
	}
}
