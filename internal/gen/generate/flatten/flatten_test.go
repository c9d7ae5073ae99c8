package flatten

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// parserOf returns a parser with types of one package that have these raw schemas.
func parserOf(schemas map[string]props) (*crd.Parser, *loader.Package) {
	p := &crd.Parser{PackageOverrides: map[string]crd.PackageOverride{"p": func(*crd.Parser, *loader.Package) {}}}
	crd.AddKnownTypes(p)
	pkg := &loader.Package{Package: &packages.Package{ID: "p", PkgPath: "p"}}
	for name, s := range schemas {
		p.Schemata[crd.TypeIdent{Package: pkg, Name: name}] = *s.DeepCopy()
	}
	return p, pkg
}

// compare flattens kinds with the flattener and with the library, each kind with a new
// parser for the library. It returns how many kinds the flattener does not support.
func compare(t *testing.T, schemas map[string]props, maxDescLen *int, kinds ...string) (unknown int) {
	t.Helper()
	ours, pkg := parserOf(schemas)
	f := &Flattener{Parser: ours, MaxDescLen: maxDescLen}
	for _, kind := range kinds {
		theirs, theirPkg := parserOf(schemas)
		id := crd.TypeIdent{Package: theirPkg, Name: kind}
		theirs.NeedFlattenedSchemaFor(id)
		want := theirs.FlattenedSchemata[id]
		if maxDescLen != nil {
			crd.TruncateDescription(&want, *maxDescLen)
		}
		got, err := f.Kind(crd.TypeIdent{Package: pkg, Name: kind})
		if err != nil && len(theirPkg.Errors) == 0 {
			unknown++
		}
		if err != nil {
			continue
		}
		if len(theirPkg.Errors) > 0 {
			t.Fatalf("the library reports %v for %s", theirPkg.Errors, text(t, schemas))
		}
		if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
			t.Fatalf("%s of %s (-library +flattener):\n%s", kind, text(t, schemas), diff)
		}
	}
	if len(pkg.Errors) > 0 {
		t.Errorf("the flattener added errors to the package: %v", pkg.Errors)
	}
	raw, _ := parserOf(schemas)
	if diff := cmp.Diff(len(raw.Schemata), len(ours.Schemata)); diff != "" {
		t.Errorf("the flattener changed the types of the parser:\n%s", diff)
	}
	for id, s := range ours.Schemata {
		if diff := cmp.Diff(text(t, schemas[id.Name]), text(t, s)); diff != "" {
			t.Errorf("the flattener changed the schema of %s:\n%s", id.Name, diff)
		}
	}
	return unknown
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
	ref := crd.TypeRefLink("", fmt.Sprint("T", above+1+m.IntN(m.types-above-1)))
	return &ref
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

// TestRandomTypes compares with the library. The flattener must support most types.
func TestRandomTypes(t *testing.T) {
	t.Parallel()
	declined, all := 0, 0
	for seed := range uint64(1200) {
		m := maker{rand.New(rand.NewPCG(seed, 1)), 2 + int(seed%9), []int{4, 60}[seed%2]}
		schemas := map[string]props{}
		var kinds []string
		for n := range m.types {
			s := m.object(n, 2)
			if m.one(4) {
				s = m.schema(n, 2)
			}
			if itself := crd.TypeRefLink("", fmt.Sprint("T", n)); m.one(8) && n > 0 && s.Properties != nil {
				s.Properties["again"] = props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{Ref: &itself}}}
			}
			schemas[fmt.Sprint("T", n)] = s
		}
		schemas["K"] = m.object(-1, 3)
		kinds = append(kinds, "T0", "K", "T1")
		if s := schemas["T1"]; s.Properties != nil {
			delete(s.Properties, "again") // a kind that has itself below it is another matter
		}
		var maxDescLen *int
		if n := int(seed%7)*4 - 4; n < 20 {
			maxDescLen = &n
		}
		declined += compare(t, schemas, maxDescLen, kinds...)
		all += len(kinds)
	}
	t.Logf("%d of %d were declined", declined, all)
	if declined == 0 || declined > all/3 {
		t.Error("the number of unsupported kinds is too low or too high")
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
	known, all := 0, 0
	for one, a := range said {
		for two, b := range said {
			for way := range 4 {
				first, second := a[0], b[1]
				schemas := map[string]props{"A": first, "B": second}
				to := func(name string, of props) props {
					ref := crd.TypeRefLink("", name)
					return props{Ref: &ref, Description: of.Description}
				}
				if way&1 != 0 {
					first = to("A", first)
				}
				if way&2 != 0 {
					second = to("B", second)
				}
				schemas["K"] = props{Type: "object", Properties: map[string]props{"p": first},
					AllOf: []props{{Type: "object", Properties: map[string]props{"p": second}}}}
				all++
				known += 1 - compare(t, schemas, nil, "K")
				if t.Failed() {
					t.Fatalf("%s and %s", one, two)
				}
			}
		}
	}
	if known < all/2 {
		t.Errorf("%d of %d are supported", known, all)
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	ref := crd.TypeRefLink("", "T")
	schemas := map[string]props{
		"T": {Type: "object", Properties: map[string]props{"a": {Type: "string"}}},
		"K": {Type: "object", Properties: map[string]props{"x": {Ref: &ref}, "y": {Ref: &ref, Description: "Why."}, "z": {Ref: &ref, Nullable: true}}},
	}
	parser, pkg := parserOf(schemas)
	f := &Flattener{Parser: parser}
	k, err := f.Kind(crd.TypeIdent{Package: pkg, Name: "K"})
	if err != nil {
		t.Fatal(err)
	}
	k.Properties["x"].Properties["b"] = props{Type: "integer"}
	for _, name := range []string{"y", "z"} {
		if len(k.Properties[name].Properties) != 2 {
			t.Errorf("the schemas of %s and x do not share their properties", name)
		}
	}
	delete(k.Properties, "x") // the caller's to do
	again, err := f.Kind(crd.TypeIdent{Package: pkg, Name: "K"})
	if err != nil || len(again.Properties) != 3 {
		t.Errorf("the kind is %v, %v", again, err)
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	to := func(name string) props {
		ref := crd.TypeRefLink("", name)
		return props{Ref: &ref}
	}
	of := func(refs ...string) props {
		s := props{Type: "object", Properties: map[string]props{}}
		for i, ref := range refs {
			s.Properties[fmt.Sprint(i)] = to(ref)
		}
		return s
	}
	odd := func(s props) props {
		s.AllOf = []props{{Properties: map[string]props{"0": {Type: "string"}}}} // a property twice
		return s
	}
	for name, tt := range map[string]struct {
		schemas map[string]props
		want    error
	}{
		"none":                           {map[string]props{"K": of("A", "B"), "A": of("B"), "B": of()}, nil},
		"itself":                         {map[string]props{"K": of("A"), "A": of("A", "B"), "B": of("B")}, nil},
		"the kind":                       {map[string]props{"K": of("K")}, ErrCycle},
		"the kind as the last reference": {map[string]props{"K": of("A", "K"), "A": of()}, ErrCycle},
		"through another type":           {map[string]props{"K": of("A"), "A": of("K")}, ErrCycle},
		"two types":                      {map[string]props{"K": of("A"), "A": of("B"), "B": of("A")}, ErrCycle},
		"another name":                   {map[string]props{"K": of("A"), "A": to("B"), "B": of("A")}, ErrCycle},
		"unsupported":                    {map[string]props{"K": odd(of("A")), "A": of("A")}, ErrUnknown},
		"unsupported cycle":              {map[string]props{"K": odd(of("A")), "A": of("B"), "B": of("A")}, ErrCycle},
		"missing type":                   {map[string]props{"K": of("A")}, ErrUnknown},
	} {
		parser, pkg := parserOf(tt.schemas)
		f := &Flattener{Parser: parser}
		for range 2 {
			if _, err := f.Kind(crd.TypeIdent{Package: pkg, Name: "K"}); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("%s: error %v, want %v", name, err, tt.want)
			}
		}
	}
}
