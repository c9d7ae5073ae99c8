package golist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

func TestRemovable(t *testing.T) {
	t.Parallel()
	const files = `
type T struct{ n [size]int }
func (T) M(x plain) {}
type hidden inHidden
func (hidden) N() inMethod { return 0 }
type deeper struct{ h *hidden }
const size, plain = 1, 2
func f(y inBody) { _ = other }
`
	for name, tt := range map[string]struct {
		translated string
		want       bool
	}{
		"nothing":                      {"", true},
		"unexported names":             {"import \"C\"\nfunc inBody() {}\nvar v = C.x\nconst other = C.y\ntype t = *C.int", true},
		"size of an array":             {"const size = C.y", false},
		"type in a method":             {"type plain C.int", false},
		"type of an unexported type":   {"type inHidden C.int", true},
		"type in an unexported method": {"type inMethod C.int", true},
		"exported type":                {"type U = C.int", false},
		"exported constant":            {"const U = C.y", false},
		"exported function":            {"func U() {}", true},
		"method":                       {"func (T) MarshalJSON() ([]byte, error) { return nil, nil }", false},
		"type of another package":      {"import \"os\"\ntype t struct { f os.File }", false},
		"import by dot":                {"import . \"os\"", false},
		"marker":                       {"// +kubebuilder:skip\n", false},
		"marker in a body":             {"func g() {\n\t//+x\n}", false},
		"comment that is not a marker": {"// a + b\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := removable([]*ast.File{parse(t, tt.translated)}, []*ast.File{parse(t, files)}); got != tt.want {
				t.Errorf("removable is %v", got)
			}
		})
	}
}

func parse(t *testing.T, src string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package p\n"+src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
