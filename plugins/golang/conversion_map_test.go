package golang

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/convert"
	"github.com/operon-dev/operon/templates"
)

// sourceOf returns a types file. It adds the imports and the object type, which are the
// same in each file.
func sourceOf(version, rest string) string {
	const head = `package %s

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ corev1.Name

type Frigate struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec FrigateSpec
}

func (*Frigate) DeepCopy() *Frigate { return nil }

%s`
	return fmt.Sprintf(head, version, rest)
}

// stubs replace the packages that generated code imports.
var stubs = map[string]string{
	"fmt": "package fmt\nfunc Errorf(string, ...any) error { return nil }",
	"sigs.k8s.io/controller-runtime/pkg/conversion": "package conversion\ntype Hub interface{ Hub() }",
	"k8s.io/apimachinery/pkg/apis/meta/v1": "package v1\ntype TypeMeta struct{ Kind string }\ntype ObjectMeta struct{ Name string }\n" +
		"type Time struct{}\ntype LabelSelector struct{}",
	"k8s.io/api/core/v1":  "package v1\ntype Name string\ntype Pod struct{}\ntype List[T any] []T",
	"example.org/out/out": "package out\ntype Unit string",
}

// world type-checks packages by import path.
type world struct {
	sources map[string][]string
	done    map[string]*types.Package
}

func (w world) Import(path string) (*types.Package, error) {
	if pkg := w.done[path]; pkg != nil {
		return pkg, nil
	}
	sources := w.sources[path]
	if stub, ok := stubs[path]; ok {
		sources = []string{stub}
	}
	if sources == nil {
		return nil, fmt.Errorf("no package %s", path)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for i, src := range sources {
		f, err := parser.ParseFile(fset, fmt.Sprintf("%s/%d.go", path, i), src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	cfg := types.Config{Importer: w}
	pkg, err := cfg.Check(path, fset, files, nil)
	w.done[path] = pkg
	return pkg, err
}

const (
	spokePath = "example.org/fleet/api/v1"
	hubPath   = "example.org/fleet/api/v2"
)

// compiles type-checks two versions of types, each with additional files, and returns the
// errors.
func compiles(v1, v2 string, more ...string) error {
	w := world{map[string][]string{
		spokePath: append([]string{v1}, more...),
		hubPath:   {v2, "package v2\nfunc (*Frigate) Hub() {}"},
	}, map[string]*types.Package{}}
	if _, err := w.Import(hubPath); err != nil {
		return err
	}
	_, err := w.Import(spokePath)
	return err
}

// packageOf parses a types file.
func packageOf(path, src string) (*convert.Package, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "types.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	pkg := convert.NewPackage(path, map[string]*ast.File{"types.go": f})
	if _, ok := pkg.Types["Frigate"]; !ok {
		return nil, errors.New("no type Frigate")
	}
	return pkg, nil
}

// convertTypes generates the conversion of a Frigate between two types files.
func convertTypes(v1, v2 string) (convert.Code, string, error) {
	spoke, err := packageOf(spokePath, v1)
	if err != nil {
		return convert.Code{}, "", err
	}
	hub, err := packageOf(hubPath, v2)
	if err != nil {
		return convert.Code{}, "", err
	}
	v := conversionValues{Package: "v1", Kind: "Frigate", Lower: "frigate", Hub: "v2", Spoke: "v1", HubUpper: "V2", HubPath: hubPath,
		HubName: spoke.Free("shipv2")}
	v = v.withConversion(spoke, hub)
	var out string
	err = render.Tree(templates.FS, "golang/conversion/spoke", map[string]string{"apidir": "api/v1", "kind": "frigate"}, v,
		func(_ string, _ fs.FileMode, content []byte) error { out = string(content); return nil })
	return v.Convert, out, err
}

const gun = "type Gun struct { Caliber int32 }\n"

func spec(fields string) string { return "type FrigateSpec struct {\n" + fields + "\n}\n" }

func TestConversionOfFields(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		both, v1, v2 string // what the files hold beside the object
		want         string // of convertFrigateSpecToV2
		gaps         []string
	}{
		"identical": {
			both: spec("A string; B *int; C []byte; D map[string]metav1.Time; E corev1.Pod; F any; G interface{}; H [2]int; I *[]*corev1.Pod"),
			want: "out.A = in.A|out.B = in.B|out.C = in.C|out.D = in.D|out.E = in.E|out.F = in.F|out.G = in.G|out.H = in.H|out.I = in.I",
		},
		"names for basic types": {
			v1: spec("A uint8; B rune"), v2: spec("A byte; B int32"),
			want: "out.A = in.A|out.B = in.B",
		},
		"named basic types": {
			both: "type Level string\n" + spec("A Level; B *Level; C []Level; D map[Level]Level"),
			want: "out.A = shipv2.Level(in.A)|out.B = (*shipv2.Level)(in.B)|" +
				"if in.C != nil {|out.C = make([]shipv2.Level, len(in.C))|for i := range in.C {|out.C[i] = shipv2.Level(in.C[i])|}|}|" +
				"if in.D != nil {|out.D = make(map[shipv2.Level]shipv2.Level, len(in.D))|for key, value := range in.D {|" +
				"out.D[shipv2.Level(key)] = shipv2.Level(value)|}|}",
		},
		"named and basic type": {
			v1: "type Level string\n" + spec("A Level; B string"), v2: "type Level string\n" + spec("A string; B Level"),
			want: "out.A = string(in.A)|out.B = shipv2.Level(in.B)",
		},
		"nested": {
			both: gun + spec("A Gun; B *Gun; C []Gun; D []*Gun; E map[string]Gun; Gun"),
			want: "convertGunToV2(&in.A, &out.A)|if in.B != nil {|out.B = new(shipv2.Gun)|convertGunToV2(in.B, out.B)|}|" +
				"if in.C != nil {|out.C = make([]shipv2.Gun, len(in.C))|for i := range in.C {|convertGunToV2(&in.C[i], &out.C[i])|}|}|" +
				"if in.D != nil {|out.D = make([]*shipv2.Gun, len(in.D))|for i := range in.D {|if in.D[i] != nil {|out.D[i] = new(shipv2.Gun)|" +
				"convertGunToV2(in.D[i], out.D[i])|}|}|}|" +
				"if in.E != nil {|out.E = make(map[string]shipv2.Gun, len(in.E))|for key, value := range in.E {|var converted shipv2.Gun|" +
				"convertGunToV2(&value, &converted)|out.E[key] = converted|}|}|convertGunToV2(&in.Gun, &out.Gun)",
		},
		"lists of lists": {
			both: gun + spec("A [][]Gun; B [2]Gun"),
			want: "if in.A != nil {|out.A = make([][]shipv2.Gun, len(in.A))|for i := range in.A {|if in.A[i] != nil {|" +
				"out.A[i] = make([]shipv2.Gun, len(in.A[i]))|for j := range in.A[i] {|convertGunToV2(&in.A[i][j], &out.A[i][j])|}|}|}|}|" +
				"for i := range in.B {|convertGunToV2(&in.B[i], &out.B[i])|}",
		},
		"keys of other packages": {
			both: gun + spec("A map[corev1.Name]Gun"),
			want: "if in.A != nil {|out.A = make(map[corev1.Name]shipv2.Gun, len(in.A))|for key, value := range in.A {|var converted shipv2.Gun|" +
				"convertGunToV2(&value, &converted)|out.A[key] = converted|}|}",
		},
		"anonymous structs": {
			both: gun + spec("A struct { X int; Y []Gun; Z [2]struct { G []Gun } }"),
			want: "out.A.X = in.A.X|if in.A.Y != nil {|out.A.Y = make([]shipv2.Gun, len(in.A.Y))|for i := range in.A.Y {|" +
				"convertGunToV2(&in.A.Y[i], &out.A.Y[i])|}|}|for i := range in.A.Z {|if in.A.Z[i].G != nil {|" +
				"out.A.Z[i].G = make([]shipv2.Gun, len(in.A.Z[i].G))|for j := range in.A.Z[i].G {|" +
				"convertGunToV2(&in.A.Z[i].G[j], &out.A.Z[i].G[j])|}|}|}",
		},
		"named and anonymous struct": {
			v1: gun + spec("A *Gun; B struct { Caliber int32 }"), v2: gun + spec("A *struct { Caliber int32 }; B Gun"),
			want: "// A is *Gun in v1 and *struct{Caliber int32} in v2: convert it here.|out.B.Caliber = in.B.Caliber",
			gaps: []string{"FrigateSpec.A"},
		},
		"pointers to named and anonymous structs": {
			v1: spec("A *struct { Caliber int32 }"), v2: gun + spec("A *Gun"),
			want: "if in.A != nil {|out.A = new(shipv2.Gun)|out.A.Caliber = in.A.Caliber|}",
		},
		"recursion": {
			both: "type Node struct { Next *Node; Children []Node; Tree Tree; Name string }\ntype Tree []Tree\n" + spec("A Node"),
			want: "convertNodeToV2(&in.A, &out.A)",
		},
		"types with different names": {
			v1: gun + spec("A Gun; B Gun"), v2: gun + "type Cannon struct { Caliber int32 }\n" + spec("A Cannon; B Gun"),
			want: "convertGunAsCannonToV2(&in.A, &out.A)|convertGunToV2(&in.B, &out.B)",
		},
		"types of the hub in the spoke": {
			v1: strings.Replace(gun, "Gun", "Own", 1) + spec("A v2.Gun; B []v2.Gun"), v2: gun + spec("A Gun; B []Gun"),
			want: "out.A = in.A|out.B = in.B",
		},
		"aliases": {
			both: gun + "type Cannon = Gun\ntype When = metav1.Time\n" + spec("A Cannon; B When; C []Cannon"),
			want: "convertGunToV2(&in.A, &out.A)|out.B = in.B|if in.C != nil {|out.C = make([]shipv2.Gun, len(in.C))|for i := range in.C {|" +
				"convertGunToV2(&in.C[i], &out.C[i])|}|}",
		},
		"fields of one version only": {
			v1: spec("A int; Old string"), v2: spec("A int; New string"),
			want: "out.A = in.A|// Old is only in v1: keep it in a field or an annotation of v2, or it is lost.|" +
				"// New is only in v2: set it here if its value follows from v1.",
			gaps: []string{"FrigateSpec.Old", "FrigateSpec.New"},
		},
		"different types": {
			v1: gun + spec("A int; B int32; C []string; D Gun; E map[string]Gun; F [2]Gun"),
			v2: gun + spec("A int; B *int32; C map[string]string; D string; E map[int]Gun; F [3]Gun"),
			want: "out.A = in.A|// B is int32 in v1 and *int32 in v2: convert it here.|" +
				"// C is []string in v1 and map[string]string in v2: convert it here.|// D is Gun in v1 and string in v2: convert it here.|" +
				"// E is map[string]Gun in v1 and map[int]Gun in v2: convert it here.|// F is [2]Gun in v1 and [3]Gun in v2: convert it here.",
			gaps: []string{"FrigateSpec.B", "FrigateSpec.C", "FrigateSpec.D", "FrigateSpec.E", "FrigateSpec.F"},
		},
		"no common fields": {
			v1: "type Gun struct { X int }\n" + spec("A *Gun; B [2]struct { X int }; C struct { X int }"),
			v2: "type Gun struct { Y int }\n" + spec("A *Gun; B [2]struct { Y int }; C struct { Y int }"),
			want: "if in.A != nil {|out.A = new(shipv2.Gun)|convertGunToV2(in.A, out.A)|}|" +
				"// B is [2]struct{X int} in v1 and [2]struct{Y int} in v2: convert it here.|" +
				"// X is only in v1: keep it in a field or an annotation of v2, or it is lost.|// Y is only in v2: set it here if its value follows from v1.",
			gaps: []string{"Gun.X", "Gun.Y", "FrigateSpec.B", "FrigateSpec.C.X", "FrigateSpec.C.Y"},
		},
		"no fields": {
			both: "type Gun struct{}\n" + spec("A Gun"),
			want: "convertGunToV2(&in.A, &out.A)",
		},
		"not exported": {
			both: "type gun struct { X int }\n" + spec("A int; b int; C gun; _ int"),
			want: "out.A = in.A|// b is not exported: only code in its own package can convert it.|" +
				"// C is gun in both versions, but the types differ: convert it here.",
			gaps: []string{"FrigateSpec.b", "FrigateSpec.C"},
		},
		"generics, interfaces, functions": {
			both: "type Opt[T any] struct { V T }\n" + spec("A int; B Opt[string]; C corev1.List[string]; D interface{ M() }; E func()"),
			want: "out.A = in.A|// B is Opt[string] in both versions, but the types differ: convert it here.|" +
				"// C is corev1.List[string] in both versions, but the types differ: convert it here.|" +
				"// D is interface{M()} in both versions, but the types differ: convert it here.|" +
				"// E is func() in both versions, but the types differ: convert it here.",
			gaps: []string{"FrigateSpec.B", "FrigateSpec.C", "FrigateSpec.D", "FrigateSpec.E"},
		},
		"used names": {
			both: gun + "var fmt, out, corev1x int\ntype string struct { S int }\nfunc convertGunToV2() {}\n" +
				spec("A int; B Gun; C string; D []string; E map[string]int"),
			want: "out.A = in.A|convertGunToV2N2(&in.B, &out.B)|// C is string in both versions, but the types differ: convert it here.|" +
				"// D is []string in both versions, but the types differ: convert it here.|" +
				"// E is map[string]int in both versions, but the types differ: convert it here.",
			gaps: []string{"FrigateSpec.C", "FrigateSpec.D", "FrigateSpec.E"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v1, v2 := sourceOf("v1", test.both+test.v1), sourceOf("v2", test.both+test.v2)
			if strings.Contains(v1, "v2.") {
				v1 = strings.Replace(v1, "import (", "import (\n\tv2 "+strconv.Quote(hubPath), 1)
			}
			f, src, err := convertTypes(v1, v2)
			if err != nil {
				t.Fatal(err)
			}
			if err := compiles(v1, v2, src); err != nil {
				t.Errorf("%v\n%s", err, src)
			}
			i := slices.IndexFunc(f.Helpers, func(h convert.Helper) bool { return h.Name == "convertFrigateSpecToV2" })
			if i < 0 {
				t.Fatalf("no function for the spec:\n%s", src)
			}
			if diff := cmp.Diff(test.want, strings.Join(f.Helpers[i].Body, "|")); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.gaps, f.Gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzConversion searches for types that compile but whose conversion does not.
func FuzzConversion(f *testing.F) {
	seeds := []string{
		spec("A [2]struct { X int; Y [3]struct{} }; M map[string]struct{}; S []struct{ A int }"), spec("A [2]struct { Z int; Y [3]struct{ Q int } }"),
		spec("A string"), gun + spec("A []Gun; B map[string]*Gun"), gun + spec("A struct { Gun }; *Gun"),
		"type Tree []Tree\n" + spec("Tree Tree; N map[string]Tree"), "type FrigateSpec = corev1.Pod", "type FrigateSpec int",
		"type T[P any] struct{}\n" + spec("A T[int]; B T[T[int]]"), "type A B; type B A\n" + spec("A A"), spec("A, B, _ int; _ string"),
		"type A = struct { X, Y A }\n" + spec("A A"), "type P *P\n" + spec("P P"), "type E struct { *E }\n" + spec("E"), spec("A [len([]int{})]int; B [...]int"), spec("A (((*string)))"),
		"var shipv2, conversion, fmt, in, i, key int\n" + gun + spec("A map[Gun]Gun"), "const string = 1\n" + spec("A string"),
		"func convertFrigateSpecToV2(in *FrigateSpec, out *FrigateSpec) {}\n" + spec("A chan Gun; B func(Gun) Gun; C interface{ M() }"),
		"func convertGunToV2N2() {}\nfunc convertGunToV2() {}\ntype g = Gun\n" + gun + spec("A, B *g; C ***Gun; D *[]*Gun"),
	}
	for i, v1 := range seeds {
		f.Add(v1, seeds[(i+1)%len(seeds)])
		f.Add(v1, v1)
	}
	f.Fuzz(func(t *testing.T, v1, v2 string) {
		v1, v2 = sourceOf("v1", v1), sourceOf("v2", v2)
		_, src, err := convertTypes(v1, v2)
		if err != nil || compiles(v1, v2) != nil {
			return // nothing to convert; what counts is that it ends
		}
		if spoke, _ := packageOf(spokePath, v1); slices.ContainsFunc(goNames, func(name string) bool { return spoke.Declared[name] }) {
			return // refused before
		}
		if err := compiles(v1, v2, src); err != nil {
			t.Errorf("%v\n%s\n%s\n%s", err, v1, v2, src)
		}
	})
}
