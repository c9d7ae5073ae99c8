//go:build testall

package flatten

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// ref returns a reference to a type of the same package.
func ref(name string) *string { return new(schemas.Ref("", name)) }

// parserOf returns a parser with types of one package that have these raw schemas.
func parserOf(raw map[string]props) (*schemas.Parser, *loader.Package) {
	p := schemas.NewParser(nil, nil, schemas.Options{})
	p.Presets["p"] = func(*loader.Package) (map[string]props, bool) { return raw, false }
	return p, newPackage()
}

// libraryOf returns the library's parser with these raw schemas.
func libraryOf(raw map[string]props) (*crd.Parser, *loader.Package) {
	p := &crd.Parser{PackageOverrides: map[string]crd.PackageOverride{"p": func(*crd.Parser, *loader.Package) {}}}
	crd.AddKnownTypes(p)
	pkg := newPackage()
	for name, s := range raw {
		p.Schemata[crd.TypeIdent{Package: pkg, Name: name}] = *s.DeepCopy()
	}
	return p, pkg
}

func newPackage() *loader.Package {
	return &loader.Package{Package: &packages.Package{ID: "p", PkgPath: "p"}}
}

// compare flattens kinds with the flattener and with the library, each kind with a new
// parser for the library. It returns how many kinds have errors.
func compare(t *testing.T, raw map[string]props, maxDescLen *int, kinds ...string) (failed int) {
	t.Helper()
	ours, pkg := parserOf(raw)
	before := text(t, raw)
	f := &Flattener{Parser: ours, MaxDescLen: maxDescLen}
	for _, kind := range kinds {
		theirs, theirPkg := libraryOf(raw)
		id := crd.TypeIdent{Package: theirPkg, Name: kind}
		theirs.NeedFlattenedSchemaFor(id)
		want := theirs.FlattenedSchemata[id]
		if maxDescLen != nil {
			crd.TruncateDescription(&want, *maxDescLen)
		}
		pkg.Errors = nil
		got := f.Kind(schemas.Type{Package: pkg, Name: kind})
		if diff := cmp.Diff(errorsOf(theirPkg), errorsOf(pkg)); diff != "" {
			t.Fatalf("errors for %s of %s (-library +flattener):\n%s", kind, text(t, raw), diff)
		}
		if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
			t.Fatalf("%s of %s (-library +flattener):\n%s", kind, text(t, raw), diff)
		}
		if len(pkg.Errors) > 0 {
			failed++
		}
	}
	if diff := cmp.Diff(before, text(t, raw)); diff != "" {
		t.Errorf("the flattener changed the raw schemas:\n%s", diff)
	}
	return failed
}

// errorsOf returns the errors of a package, sorted and without duplicates.
func errorsOf(p *loader.Package) []string {
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Msg)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func text(t *testing.T, v any) string {
	t.Helper()
	content, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// maker creates random schemas of types. They refer to types with higher numbers, and
// some refer to themselves.
type maker struct {
	*rand.Rand
	types int
	names int // of properties: with few of them, types that are embedded have the same
}

func (m maker) one(n int) bool { return m.IntN(n) == 0 }

func (m maker) ref(above int) *string {
	if above+1 >= m.types {
		return nil
	}
	return ref(fmt.Sprint("T", above+1+m.IntN(m.types-above-1)))
}

// marked sets random fields that markers can set.
func (m maker) marked(s *props) {
	number, yes, list := int64(m.IntN(3)), m.one(2), "map"
	for _, set := range []func(){
		func() { s.Description = "The first sentence. The second one." },
		func() { s.Title = fmt.Sprint("title ", m.IntN(2)) },
		func() { s.Default = &apiextensionsv1.JSON{Raw: fmt.Append(nil, number)} },
		func() { s.Example = &apiextensionsv1.JSON{Raw: []byte(`"e"`)} },
		func() { s.Enum = []apiextensionsv1.JSON{{Raw: fmt.Append(nil, number)}} },
		func() { s.MinLength = &number },
		func() { s.MaxProperties = &number },
		func() { s.Nullable = true },
		func() { s.Pattern = fmt.Sprint("^", number) },
		func() { s.Format = []string{"int32", "date-time"}[m.IntN(2)] },
		func() { s.XPreserveUnknownFields = &yes },
		func() { s.XListType = &list },
		func() {
			s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: fmt.Sprint("self != ", number)})
		},
		func() { s.ExternalDocs = &apiextensionsv1.ExternalDocumentation{URL: "u"} },
		func() { s.AnyOf = []props{{Type: "integer"}, {Type: "string"}} },
		func() { s.Type = "string" },
	} {
		if m.one(12) {
			set()
		}
	}
}

func (m maker) schema(above, depth int) props {
	var s props
	switch m.IntN(6) {
	case 0, 1:
		s.Ref = m.ref(above)
	case 2:
		s.Type = "string"
	case 3:
		if depth > 0 {
			inner := m.schema(above, depth-1)
			s = props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}}
		}
	case 4:
		if depth > 0 {
			inner := m.schema(above, depth-1)
			s = props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &inner}}
		}
	default:
		if depth > 0 {
			s = m.object(above, depth-1)
		}
	}
	m.marked(&s)
	return s
}

func (m maker) object(above, depth int) props {
	s := props{Type: "object", Properties: map[string]props{}}
	for range m.IntN(4) {
		name := fmt.Sprint("p", m.IntN(m.names))
		s.Properties[name] = m.schema(above, depth)
		if m.one(2) && !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
	slices.Sort(s.Required)
	for range max(0, m.IntN(5)-2) {
		s.AllOf = append(s.AllOf, m.schema(above, 1))
	}
	return s
}

// TestRandomTypes compares with the library.
func TestRandomTypes(t *testing.T) {
	t.Parallel()
	failed, all := 0, 0
	for seed := range uint64(1200) {
		m := maker{rand.New(rand.NewPCG(seed, 1)), 2 + int(seed%9), []int{4, 60}[seed%2]}
		raw := map[string]props{}
		var kinds []string
		for n := range m.types {
			s := m.object(n, 2)
			if m.one(4) {
				s = m.schema(n, 2)
			}
			if m.one(8) && n > 0 && s.Properties != nil {
				s.Properties["again"] = props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{Ref: ref(fmt.Sprint("T", n))}}}
			}
			raw[fmt.Sprint("T", n)] = s
		}
		raw["K"] = m.object(-1, 3)
		kinds = append(kinds, "T0", "K", "T1")
		if s := raw["T1"]; s.Properties != nil {
			delete(s.Properties, "again") // a kind that has itself below it is another matter
		}
		var maxDescLen *int
		if n := int(seed%7)*4 - 4; n < 20 {
			maxDescLen = &n
		}
		failed += compare(t, raw, maxDescLen, kinds...)
		all += len(kinds)
	}
	t.Logf("%d of %d have errors", failed, all)
	if failed > all/2 {
		t.Error("too many kinds have errors")
	}
}

// TestSameProperty defines a property of the same name in a type and in a type that it
// embeds. The property is a field, or refers to a type with that field.
func TestSameProperty(t *testing.T) {
	t.Parallel()
	yes, no, set, atomic := true, false, "set", "atomic"
	said := map[string][2]props{
		"nothing":     {{}, {}},
		"type":        {{Type: "string"}, {}},
		"description": {{Description: "One."}, {Description: "Two."}},
		"enum":        {{Enum: []apiextensionsv1.JSON{{Raw: []byte(`"a"`)}}}, {Enum: []apiextensionsv1.JSON{{Raw: []byte(`"b"`)}}}},
		"rule":        {{XValidations: apiextensionsv1.ValidationRules{{Rule: "a"}}}, {XValidations: apiextensionsv1.ValidationRules{{Rule: "b"}}}},
		"list":        {{XListType: &set}, {XListType: &atomic}},
		"map":         {{XMapType: &set}, {XMapType: &atomic}},
		"keys":        {{XListMapKeys: []string{"a"}}, {XListMapKeys: []string{"b"}}},
		"unknown":     {{XPreserveUnknownFields: &yes}, {XPreserveUnknownFields: &no}},
		"pattern":     {{Pattern: "a"}, {Pattern: "b"}},
		"nullable":    {{Nullable: true}, {}},
		"required":    {{Required: []string{"b", "a"}}, {Required: []string{"c", "a"}}},
	}
	for one, a := range said {
		for two, b := range said {
			for way := range 4 {
				first, second := a[0], b[1]
				raw := map[string]props{"A": first, "B": second}
				to := func(name string, of props) props { return props{Ref: ref(name), Description: of.Description} }
				if way&1 != 0 {
					first = to("A", first)
				}
				if way&2 != 0 {
					second = to("B", second)
				}
				raw["K"] = props{Type: "object", Properties: map[string]props{"p": first},
					AllOf: []props{{Type: "object", Properties: map[string]props{"p": second}}}}
				if compare(t, raw, nil, "K"); t.Failed() {
					t.Fatalf("%s and %s", one, two)
				}
			}
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	raw := map[string]props{
		"T": {Type: "object", Properties: map[string]props{"a": {Type: "string"}}},
		"K": {Type: "object", Properties: map[string]props{"x": {Ref: ref("T")}, "y": {Ref: ref("T"), Description: "Why."}, "z": {Ref: ref("T"), Nullable: true}}},
	}
	parser, pkg := parserOf(raw)
	f := &Flattener{Parser: parser}
	k := f.Kind(schemas.Type{Package: pkg, Name: "K"})
	k.Properties["x"].Properties["b"] = props{Type: "integer"}
	for _, name := range []string{"y", "z"} {
		if len(k.Properties[name].Properties) != 2 {
			t.Errorf("the schemas of %s and x do not share their properties", name)
		}
	}
	delete(k.Properties, "x") // the caller's to do
	if again := f.Kind(schemas.Type{Package: pkg, Name: "K"}); len(again.Properties) != 3 {
		t.Errorf("the kind is %v", again)
	}
}

// TestCycles expects that the flattener finds all cycles on which the schemas depend, and
// that the schemas of kinds with cycles are among those that the library makes.
func TestCycles(t *testing.T) {
	t.Parallel()
	to := func(name string) props { return props{Ref: ref(name)} }
	of := func(refs ...string) props {
		s := props{Type: "object", Properties: map[string]props{}}
		for i, ref := range refs {
			s.Properties[fmt.Sprint(i)] = to(ref)
		}
		return s
	}
	odd := func(s props) props {
		s.AllOf = []props{{Properties: map[string]props{"0": {Type: "object"}}}} // a property twice
		return s
	}
	for name, tt := range map[string]struct {
		raw  map[string]props
		want bool
	}{
		"none":                           {map[string]props{"K": of("A", "B"), "A": of("B"), "B": of()}, false},
		"itself":                         {map[string]props{"K": of("A"), "A": of("A", "B"), "B": of("B")}, false},
		"the kind":                       {map[string]props{"K": of("K")}, true},
		"the kind as the last reference": {map[string]props{"K": of("A", "K"), "A": of()}, true},
		"through another type":           {map[string]props{"K": of("A"), "A": of("K")}, true},
		"two types":                      {map[string]props{"K": of("A"), "A": of("B"), "B": of("A")}, true},
		"another name":                   {map[string]props{"K": of("A"), "A": to("B"), "B": of("A")}, true},
		"a property twice":               {map[string]props{"K": odd(of("A")), "A": of("A")}, false},
		"a property twice, in a cycle":   {map[string]props{"K": odd(of("A")), "A": of("B"), "B": of("A")}, true},
	} {
		parser, pkg := parserOf(tt.raw)
		f := &Flattener{Parser: parser}
		for range 2 {
			got := text(t, f.Kind(schemas.Type{Package: pkg, Name: "K"}))
			if f.Cycle != tt.want {
				t.Errorf("%s: cycle is %v", name, f.Cycle)
			}
			same := false
			for try := 0; try < 100 && !same; try++ {
				theirs, theirPkg := libraryOf(tt.raw)
				id := crd.TypeIdent{Package: theirPkg, Name: "K"}
				theirs.NeedFlattenedSchemaFor(id)
				same = text(t, theirs.FlattenedSchemata[id]) == got
			}
			if !same {
				t.Errorf("%s: the library never makes %s", name, got)
			}
			parser, pkg := parserOf(tt.raw)
			if again := text(t, (&Flattener{Parser: parser}).Kind(schemas.Type{Package: pkg, Name: "K"})); again != got {
				t.Errorf("%s: another run makes %s instead of %s", name, again, got)
			}
		}
	}
	raw := map[string]props{"J": of("K"), "K": of("K")}
	parser, pkg := parserOf(raw)
	f := &Flattener{Parser: parser}
	if f.Kind(schemas.Type{Package: pkg, Name: "J"}); f.Cycle {
		t.Error("a type that refers to itself is a cycle")
	}
	if f.Kind(schemas.Type{Package: pkg, Name: "K"}); !f.Cycle {
		t.Error("a kind that refers to itself is no cycle, although its schema depends on the order of the kinds")
	}
}
