package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/scaffold"
)

// full is a record with a value in every field.
func full(t testing.TB) *Record {
	t.Helper()
	is, err := filestat.Of(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sum := SumOf([]byte("x"))
	out := []Output{{Generator: "crd", Path: "config/x.yaml", Stat: is, Sum: sum}, {Generator: "crd", Path: "config/y.yaml"}}
	return &Record{
		Go:      Go{Flags: "-tags=x", Arch: "amd64", Root: "/go", ModCache: "/mod", Env: "/env", Work: "off", Compiler: "cc", Folders: []string{"/p", "/q"}},
		Outside: []File{{Path: "/p/go.mod", Stat: is, Sum: sum}, {Path: "/p/go.work"}},
		Folders: []Folder{{Dir: "/p", Stat: is, Listed: true, Names: []string{"a/", "x.go"}, Sources: []Source{{Name: "x.go", Stat: is, Sum: sum, Head: SumOf(nil)}}}},
		Packages: []golist.Saved{
			{ImportPath: "p", Name: "p", Dir: "/p", GoFiles: []string{"x.go"}, CgoFiles: []string{"c.go"}, SwigFiles: []string{"s"}, SwigCXXFiles: []string{"t"}, Known: true,
				Imports: []golist.SavedImport{{Written: "q", Package: 1}}},
			{ImportPath: "q", Name: "q", DepOnly: true},
		},
		Identities: []Identity{{Path: "q", Sum: sum}},
		Units: []Unit{{Path: "p", Refs: []string{"q"}, Root: true, Group: "g", Object: out, Markers: []string{"+m"},
			Warnings: []scaffold.Warning{{File: "x.go", Line: 3, Column: 4, Rule: "r", Message: "m"}}}},
		Kinds: []Kind{{Group: "g", Kind: "K", Key: sum, Outputs: out}},
		Joint: out[:1],
	}
}

func TestCodec(t *testing.T) {
	t.Parallel()
	want := full(t)
	content := want.Encode()
	got := Decode(content)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b filestat.Stat) bool { return a == b })); diff != "" {
		t.Errorf("(-encoded +decoded):\n%s", diff)
	}
	if string(got.Encode()) != string(content) {
		t.Error("the same record has different bytes")
	}
	for i := range content {
		if Decode(content[:i]) != nil {
			t.Errorf("%d of %d bytes decode as a record", i, len(content))
		}
	}
	if Decode(append(content, 0)) != nil {
		t.Error("a record with an extra byte decodes")
	}
}

// FuzzDecode decodes any bytes. A record that decodes must encode to an equal one.
func FuzzDecode(f *testing.F) {
	f.Add(full(f).Encode())
	f.Add((&Record{}).Encode())
	f.Fuzz(func(t *testing.T, content []byte) {
		r := Decode(content)
		if r == nil {
			return
		}
		again := Decode(r.Encode())
		if diff := cmp.Diff(r, again, cmp.Comparer(func(a, b filestat.Stat) bool { return a == b })); diff != "" {
			t.Errorf("(-decoded +again):\n%s", diff)
		}
	})
}

func TestDependenciesCodec(t *testing.T) {
	t.Parallel()
	want := Dependencies{Sums: []string{"m v1.0.0 h1:x=", "n v2.0.0 h1:y="}, Packages: full(t).Packages}
	content := want.Encode()
	got, ok := DecodeDependencies(content)
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("ok %v (-encoded +decoded):\n%s", ok, diff)
	}
	if string(got.Encode()) != string(content) {
		t.Error("the same dependencies have different bytes")
	}
	for i := range content {
		if d, ok := DecodeDependencies(content[:i]); ok {
			t.Errorf("%d of %d bytes decode as %v", i, len(content), d)
		}
	}
	if _, ok := DecodeDependencies(append(content, 0)); ok {
		t.Error("dependencies with an extra byte decode")
	}
	if _, ok := DecodeDependencies(nil); ok {
		t.Error("nothing decodes as dependencies")
	}
}

// FuzzDecodeDependencies is FuzzDecode for dependencies.
func FuzzDecodeDependencies(f *testing.F) {
	f.Add((&Dependencies{Sums: []string{"m v1.0.0 h1:x="}, Packages: full(f).Packages}).Encode())
	f.Add((&Dependencies{}).Encode())
	f.Fuzz(func(t *testing.T, content []byte) {
		d, ok := DecodeDependencies(content)
		if !ok {
			return
		}
		again, ok := DecodeDependencies(d.Encode())
		if diff := cmp.Diff(d, again); !ok || diff != "" {
			t.Errorf("ok %v (-decoded +again):\n%s", ok, diff)
		}
	})
}
