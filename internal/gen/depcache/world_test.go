package depcache

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/store"
	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// sources are the sources of packages of which c refers to b, and b to a.
var sources = map[string]string{
	"a": "package a\ntype A struct { n int; gone missing.Type }\nfunc (*A) DeepCopyInto(*A) {}\nconst Size = 3",
	"b": "package b\nimport \"a\"\ntype B struct { a.A; array [a.Size]alone }\ntype alone string",
	"c": "package c\nimport \"b\"\ntype C = b.B",
}

// fresh type-checks sources, which may have errors.
func fresh(t *testing.T, paths ...string) []Fresh {
	t.Helper()
	fset, made := token.NewFileSet(), map[string]*types.Package{}
	var all []Fresh
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, sources[path], 0)
		if err != nil {
			t.Fatal(err)
		}
		one := Fresh{Path: path, Direct: true}
		config := types.Config{Error: func(error) {}, Importer: importer(func(path string) *types.Package {
			one.Refs = append(one.Refs, path)
			return made[path]
		})}
		one.Types, _ = config.Check(path, fset, []*ast.File{f}, nil)
		made[path] = one.Types
		all = append(all, one)
	}
	return all
}

type importer func(path string) *types.Package

func (f importer) Import(path string) (*types.Package, error) { return f(path), nil }

// filled returns a cache with the types of sources and a schema for a.A. A source is the
// identity of its package.
func filled(t *testing.T) *Cache {
	t.Helper()
	c := &Cache{Store: store.Open(t.TempDir())}
	w := world(c)
	w.schemas["a"] = map[string]apiextensionsv1.JSONSchemaProps{"A": {Type: "string"}}
	w.groups["a"] = "a.example.com"
	w.Keep(fresh(t, "a", "b", "c"))
	return c
}

func world(c *Cache) *World {
	return NewWorld(c, token.NewFileSet(), identities(sources), func(string) bool { return false })
}

func use(t *testing.T, w *World, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, ok := w.Use(path); !ok {
			t.Fatalf("%s is not cached", path)
		}
	}
}

// TestTypesAgree reads packages in an order in which each refers to packages that are not
// read yet.
func TestTypesAgree(t *testing.T) {
	t.Parallel()
	c := filled(t)
	for _, paths := range [][]string{{"a", "b", "c"}, {"c"}, {"a", "c"}} {
		w := world(c)
		use(t, w, paths...)
		if bad := w.Read(); len(bad) > 0 {
			t.Fatalf("%q cannot be read", bad)
		}
		alias := w.Types("c").Scope().Lookup("C").Type().(*types.Alias)
		b := types.Unalias(alias).(*types.Named)
		a := b.Underlying().(*types.Struct).Field(0).Type().(*types.Named)
		if got := types.TypeString(b.Underlying(), nil); got != "struct{a.A; array [3]b.alone}" {
			t.Errorf("b.B is %s", got)
		}
		if got := types.TypeString(a.Underlying(), nil); got != "struct{n int; gone invalid type}" {
			t.Errorf("a.A is %s", got)
		}
		if m, _, _ := types.LookupFieldOrMethod(b, true, nil, "DeepCopyInto"); m == nil {
			t.Error("the method of the embedded type is missing")
		}
		if own := w.Types("a"); own != nil && own.Scope().Lookup("A").Type() != a {
			t.Error("a.A is two different types")
		}
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	w := world(filled(t))
	use(t, w, "a", "b", "c")
	if parted := w.Part(func(path string) bool { return path == "other" }); len(parted) > 0 {
		t.Fatalf("removed %q without a reason", parted)
	}
	parted := w.Part(func(path string) bool { return path == "b" })
	slices.Sort(parted)
	if diff := cmp.Diff([]string{"b", "c"}, parted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := w.Use("c"); ok {
		t.Error("a removed package is back")
	}
	if w.Read(); w.Types("a") == nil || w.Types("c") != nil {
		t.Error("another package was removed")
	}
}

// TestUnreadable uses entries with a valid checksum and damaged types.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	c := filled(t)
	id, _ := identities(sources)("b")
	good := c.stored(c.key("b", id))[0]
	for i := range good.Types {
		bad := *good
		bad.Types = bytesWith(good.Types, i)
		c.Store.Put(entries, c.key("b", id), Encode([]*Entry{&bad}))
		w := world(c)
		use(t, w, "a", "b")
		if unreadable := w.Read(); len(unreadable) > 0 {
			if !slices.Equal(unreadable, []string{"b"}) {
				t.Fatalf("byte %d: %q cannot be read", i, unreadable)
			}
			if _, ok := w.Use("b"); ok || len(w.Read()) > 0 {
				t.Fatalf("byte %d: the package is back", i)
			}
		}
	}
	bad := *good
	bad.Types = []byte("no types")
	c.Store.Put(entries, c.key("b", id), Encode([]*Entry{&bad}))
	w := world(c)
	if use(t, w, "b"); len(w.Read()) != 1 {
		t.Error("read damaged types")
	}
}

func bytesWith(content []byte, flipped int) []byte {
	content = slices.Clone(content)
	content[flipped] ^= 0xff
	return content
}

func TestOverride(t *testing.T) {
	t.Parallel()
	c := filled(t)
	for name, tt := range map[string]struct {
		ask     string
		kinds   []schema.GroupKind
		lacking bool
	}{
		"known":           {"A", nil, false},
		"of other groups": {"A", []schema.GroupKind{{Group: "b.example.com", Kind: "A"}}, false},
		"of the group":    {"A", []schema.GroupKind{{Group: "a.example.com", Kind: "X"}}, true},
		"unknown":         {"B", nil, true},
	} {
		w := world(c)
		use(t, w, "a")
		w.Read()
		p := &loader.Package{Package: &packages.Package{ID: "a", PkgPath: "a"}}
		if !w.Preset(p) || p.Types == nil || p.TypesInfo == nil || p.Syntax == nil {
			t.Fatalf("%s: preset is %+v", name, p.Package)
		}
		parser := &crd.Parser{PackageOverrides: map[string]crd.PackageOverride{}}
		w.Override(parser, tt.kinds)
		id := crd.TypeIdent{Package: p, Name: tt.ask}
		parser.NeedSchemaFor(id)
		s := parser.Schemata[id]
		if lacking := len(w.Lacking()) > 0; lacking != tt.lacking || !lacking && s.Type != "string" {
			t.Errorf("%s: lacking is %v, schema %v", name, lacking, s)
		}
	}
}

// TestKeepsWhatIsAskedFor expects that other packages are cached only after a run missed
// one.
func TestKeepsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, missed := range []bool{false, true} {
		dir := t.TempDir()
		w := world(&Cache{Store: store.Open(dir)})
		w.schemas["a"] = someSchemas
		all := fresh(t, "a", "b", "c")
		all[0].Direct, all[1].Direct = false, false
		w.parted = missed
		w.Keep(all)
		kept := map[string]bool{}
		for path := range sources {
			_, kept[path] = world(w.cache).Use(path)
		}
		if want := map[string]bool{"a": true, "b": missed, "c": true}; !maps.Equal(kept, want) {
			t.Errorf("kept %v, want %v", kept, want)
		}
		if _, err := os.Stat(filepath.Join(dir, entries)); err != nil {
			t.Error(err)
		}
	}
}

// TestOnlyWithIdentity expects that no package is cached that refers to one without an
// identity.
func TestOnlyWithIdentity(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir())}
	some := maps.Clone(sources)
	delete(some, "b")
	w := NewWorld(c, token.NewFileSet(), identities(some), func(string) bool { return false })
	w.Keep(fresh(t, "a", "b", "c"))
	for path, want := range map[string]bool{"a": true, "b": false, "c": false} {
		if _, ok := world(c).Use(path); ok != want {
			t.Errorf("%s: kept is %v", path, ok)
		}
	}
}
