package stripbodies

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

func TestBlank(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, want string }{
		"plain":                    {"func f() { g() }\n", "func f() {     }\n"},
		"lines":                    {"func f() {\n\tg()\n}\n", "func f() {\n    \n}\n"},
		"at the end":               {"func f() { g() }", "func f() {     }"},
		"declared only":            {"func f()\nfunc g() { x }\n", "func f()\nfunc g() {   }\n"},
		"results":                  {"func f() interface{ m() } { g() }\n", "func f() interface{ m() } {     }\n"},
		"result":                   {"func f() *struct {\n\ta int\n} { g() }\n", "func f() *struct {\n\ta int\n} {     }\n"},
		"name that ends in struct": {"func f() Mystruct { g() }\n", "func f() Mystruct {     }\n"},
		"type parameters":          {"func f[T interface{ ~int }](t T) { g() }\n", "func f[T interface{ ~int }](t T) {     }\n"},
		"brace in text":            {"func f() { a(\"}\\\"\", '}', `}`) }\n", "func f() {                    }\n"},
		"nested":                   {"func f() { if x { y } }\n", "func f() {            }\n"},
		"comments":                 {"func f() { g() /* } */; h() // x\n}\n", "func f() {     /* } */      // x\n}\n"},
		"marker":                   {"func f() {\n\tg() // +m\n}\n", "func f() {\n\tg() // +m\n}\n"},
		"comment after the body":   {"func f() { g() } // h\n", "func f() { g() } // h\n"},
		"in a comment":             {"/*\nfunc f() { g() }\n*/\n", "/*\nfunc f() { g() }\n*/\n"},
		"in a raw string":          {"var s = `\nfunc f() { g() }\n`\n", "var s = `\nfunc f() { g() }\n`\n"},
		"not closed":               {"func f() { if x {\n", "func f() { if x {\n"},
		"method":                   {"// doc\nfunc (m *T) Size() (n int) {\n\treturn 1\n}\nfunc f() {}\n", "// doc\n                            \n         \n \nfunc f() {}\n"},
		"method of T[P]":           {"func (T[P]) Reset() {}\n", "                      \n"},
		"method with comment":      {"func (T) Size() { /* x */ }\n", "                  /* x */  \n"},
		"method with marker":       {"func (T) Size() {\n\t// +m\n}\n", "func (T) Size() {\n\t// +m\n}\n"},
		"method that is used":      {"func (m *T) MarshalText() { x }\n", "func (m *T) MarshalText() {   }\n"},
		"quote in comment":         {"// don't\nfunc f() { g() }\n", "// don't\nfunc f() {     }\n"},
	} {
		if got := string(Blank([]byte(tt.src))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestSources compares stripped sources with the originals without unused methods. Among them are the
// unusual ones of package runtime.
func TestSources(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-f", "{{.Dir}}", "runtime", "net", "reflect", "go/parser", "text/template/parse",
		"k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/util/intstr", "sigs.k8s.io/controller-tools/pkg/crd")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	before, after := 0, 0
	for dir := range strings.FieldsSeq(string(out)) {
		names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, size := outside(t, parseSource(t, name, src))
			f := parseSource(t, name, src)
			f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool { return isBlanked(d, src) })
			want, _ := outside(t, f)
			got, rest := outside(t, parseSource(t, name, Blank(src)))
			if diff := cmp.Diff(want[1:], got[1:]); diff != "" { // the first node is the file, which can end earlier
				t.Errorf("%s (-source +stripped):\n%s", name, diff)
			}
			before, after = before+size, after+rest
		}
	}
	if after > before/3 {
		t.Errorf("%d nodes of %d are left: bodies or methods are not removed", after, before)
	}
}

// isBlanked reports whether a declaration is a method that Blank removes: an unused one, unless its body has a
// marker or is followed by a comment.
func isBlanked(d ast.Decl, src []byte) bool {
	m, ok := d.(*ast.FuncDecl)
	if !ok || m.Recv == nil || m.Body == nil || !isUnused(m.Name.Name) || src[m.Pos()-1:][0] != 'f' {
		return false
	}
	body := string(src[m.Body.Pos()-1 : m.End()-1])
	ended := int(m.End())-1 == len(src) || src[m.End()-1] == '\n'
	return ended && !strings.Contains(body, "// +") && !strings.Contains(body, "//+")
}

func parseSource(t *testing.T, name string, src []byte) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// outside lists the nodes of a file that are not in bodies of functions, all comments, and
// all markers that the collector finds. It also counts all nodes.
func outside(t *testing.T, f *ast.File) (lines []string, all int) {
	t.Helper()
	var body ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		all++
		if body == nil || n.Pos() <= body.Pos() || n.End() > body.End() {
			lines = append(lines, fmt.Sprintf("%d-%d %T", n.Pos(), n.End(), n))
		}
		if d, ok := n.(*ast.FuncDecl); ok && d.Body != nil {
			body = d.Body
		}
		return true
	})
	for _, group := range f.Comments {
		for _, c := range group.List {
			lines = append(lines, fmt.Sprintf("%d %s", c.Pos(), c.Text))
			if text, ok := strings.CutPrefix(c.Text, "//"); ok && strings.HasPrefix(strings.TrimSpace(text), "+") {
				c.Text = fmt.Sprintf("//+m=%d", c.Pos())
			}
		}
	}
	col := &markers.Collector{Registry: &markers.Registry{}}
	for _, target := range []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField} {
		if err := col.Define("m", target, 0); err != nil {
			t.Fatal(err)
		}
	}
	byNode, err := col.MarkersInPackage(&loader.Package{Package: &packages.Package{Syntax: []*ast.File{f}}})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for node, values := range byNode {
		if len(values) > 0 {
			found = append(found, fmt.Sprintf("%d %v", node.Pos(), values))
		}
	}
	slices.Sort(found)
	return append(lines, found...), all
}
