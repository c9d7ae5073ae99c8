//go:build testall

package crdyaml

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// odd are strings that YAML writes in different styles, or cannot write.
var odd = []string{
	"", " ", "  ", "a", "word", "two words", " leading", "trailing ", "two  spaces", "tab\there", "\ttab", "tab\t",
	"\n", "\n\n", "line\n", "line\n\n", "\nline", "one\ntwo", "one\n\ntwo", "one\n  indented\ntwo", "  one\ntwo", "one \ntwo",
	"one\ntwo ", "one\r\ntwo", "\r", "a\rb", "one\ntwo: three # four", "key: value", "key:value", "key:", ":", ": a", ":a", "a :b", "one\nkey:",
	"a #b", "a#b", "#a", "- a", "-a", "-", "--", "---", "--- a", "...", ".a", "?", "? a", "?a", "a?", "!", "!a", "&a", "*a", "|", ">", "@a", "`a`", "%a", ",a",
	"a,b", "[a]", "a[0]", "{a}", "a{b}", "'a'", "it's", `"a"`, `say "a"`, `a\b`, "$a", "(a)", "/a", "^a$", "_a", "<a", "<<", "=", "~", "~a", "+", "+a", ".", "..",
	"y", "Y", "n", "N", "yes", "Yes", "YES", "yEs", "no", "on", "On", "off", "OFF", "true", "True", "TRUE", "tRue", "false", "False", "null", "Null", "NULL", "nul",
	"0", "1", "-1", "+1", "007", "0x1F", "0X1f", "0b101", "-0b1", "0o7", "1_000", "_1", "1e3", "1E+3", "1.5", ".5", "5.", "-.5", ".inf", "-.Inf", ".nan", ".NaN",
	"1e400", "9223372036854775807", "9223372036854775808", "18446744073709551616", "12:30", "12:30:45", "1:99", "190:20:30.15",
	"2001-01-01", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10", "2001-12-14T21:59:43Z", "2001-13-40", "20010101",
	"é", "naïve: café", "日本語", "emoji 😀", "😀", "em — dash", "\u00a0", "a\u00a0b", "\u0085", "a\u0085b", "a\u2028b", "a\u2029b", "a\ufeffb", "\ufeff", "\ufffd", "a\ufffeb", "\uffff",
	"\x00", "a\x01b", "\x1b[0m", "\x7f", "a\u0080b", "\xff", "a\xc3", "\xed\xa0\x80", "\ue000", "\U0001F600\U000E0001", "<b>&amp;</b>",
	strings.Repeat("word ", 30) + "end", strings.Repeat("x", 200), strings.Repeat("x", 79) + " y z", strings.Repeat("ab  ", 40) + "end",
	strings.Repeat("é ", 60) + "end", strings.Repeat("word: ", 30) + "end", strings.Repeat("it's ", 30) + ": end", strings.Repeat("a \"b\" ", 30) + "\t",
	"one\n" + strings.Repeat("long line ", 30) + "end\ntwo", strings.Repeat("x", 101), strings.Repeat("x", 129), strings.Repeat("x", 1025),
}

// rawJSON are JSON texts as in markers. Some of them are invalid.
var rawJSON = []string{
	"", "null", " null ", "true", "0", "-0", "1", "1.0", "1.5", "1e3", "1E-7", "1e21", "1e400", "0.1", "123456789012345678", "9007199254740993",
	"9223372036854775807", "9223372036854775808", "18446744073709551615", "123456789012345678901234567890", `""`, `"a"`, `"yes"`, `"1"`, `"\u2028"`, `"a\nb"`,
	`"<&>"`, "[]", "{}", "[null]", "[[1,2],[3]]", "[[],{}]", `[{"b":1,"a":[{"z":null}]}]`, `{"b":1,"a":2}`, `{"a10":1,"a9":2,"a010":3,"B":4,"b":5,"-":6,"":7}`,
	`{"a":{"b":{"c":"d: e"}}}`, `{ "x" : [ 1 , 2 ] }`, `{"a":1,"a":2}`, `{"<<":{"a":1}}`, `{"y":"n"}`, "{", "nonsense", "1 2",
}

// same compares with the library, and reports whether the emitter wrote the CRD itself.
func same(t *testing.T, c apiextensionsv1.CustomResourceDefinition, options ...*genall.WriteYAMLOptions) (short bool) {
	t.Helper()
	want, wantErr := library(c, options...)
	var e Emitter
	for range 2 { // the second time from memory
		got, err := e.CRD(c, options...)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if string(got) != string(want) {
			t.Fatalf("(-library +emitter)\n%s\nof %q", cmp.Diff(string(want), string(got)), want)
		}
	}
	return e.crd(c, options) == nil
}

// crdOf returns a CRD with one version for each schema.
func crdOf(schemas ...props) apiextensionsv1.CustomResourceDefinition {
	c := apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        "frigates.ship.example.com",
			Annotations: map[string]string{"controller-gen.kubebuilder.io/version": "v0.23.0"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "ship.example.com", Scope: "Namespaced",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Frigate", ListKind: "FrigateList", Plural: "frigates", Singular: "frigate"},
		},
	}
	for i := range schemas {
		c.Spec.Versions = append(c.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: fmt.Sprintf("v%d", i+1), Served: true, Storage: i == 0,
			Schema:                   &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schemas[i]},
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}},
		})
	}
	return c
}

func TestStrings(t *testing.T) {
	for _, s := range odd {
		t.Run(fmt.Sprintf("%.20q", s), func(t *testing.T) {
			inner := props{
				Description: s, Title: s, Pattern: s, Format: s, ID: s, Required: []string{"a", s}, XListType: &s, Ref: &s,
				XValidations: apiextensionsv1.ValidationRules{{Rule: s}, {Rule: "self", Message: s, MessageExpression: s, FieldPath: s}},
				ExternalDocs: &apiextensionsv1.ExternalDocumentation{Description: s, URL: s},
			}
			for _, outer := range []props{
				inner,
				{Properties: map[string]props{"spec": inner, "b": {AllOf: []props{inner, {}, inner}}}},
				{Properties: map[string]props{"spec": {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}}}},
				{Properties: map[string]props{s: {Type: "string"}, "b": {Type: "string"}}},
				{Properties: map[string]props{"x": {Properties: map[string]props{s: inner}}}},
			} {
				same(t, crdOf(outer))
			}
		})
	}
}

func TestRawJSON(t *testing.T) {
	for _, s := range rawJSON {
		t.Run(fmt.Sprintf("%.20q", s), func(t *testing.T) {
			j := apiextensionsv1.JSON{Raw: []byte(s)}
			inner := props{Default: &j, Example: &j, Enum: []apiextensionsv1.JSON{{Raw: []byte(`"a"`)}, j}}
			same(t, crdOf(inner, props{Properties: map[string]props{"a": inner, "b": {OneOf: []props{inner}}}}))
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 0.1, 1e20, 1e21, 1e22, 1e-7, 1 << 53, 1<<53 + 2, -1 << 63, 1 << 63,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()} {
		same(t, crdOf(props{Maximum: &v, Properties: map[string]props{"a": {Minimum: &v, MultipleOf: &v}}}))
	}
}

// TestEveryField fails if a new release of the API has a field that the emitter omits.
func TestEveryField(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	typ := reflect.TypeFor[props]()
	for i := range typ.NumField() {
		t.Run(typ.Field(i).Name, func(t *testing.T) {
			var s props
			filler{Rand: rnd, texts: []string{"word"}, raws: []string{"1"}, sparse: 1, without: "Dependencies"}.fill(reflect.ValueOf(&s).Elem().Field(i), 2)
			c := crdOf(s)
			if written, _ := library(c); !strings.Contains(string(written), "\n      openAPIV3Schema:\n") {
				t.Fatalf("the field has no value:\n%s", written)
			}
			if short := same(t, c); short == (typ.Field(i).Name == "Dependencies") {
				t.Errorf("the emitter wrote it: %v", short)
			}
		})
	}
	// All fields of nested types have values.
	var s props
	filler{Rand: rnd, texts: []string{"word"}, raws: []string{"1"}, sparse: 1, without: "Dependencies"}.fill(reflect.ValueOf(&s).Elem(), 3)
	if !same(t, crdOf(s)) {
		t.Error("the library wrote the CRD")
	}
}

// TestFingerprint expects that schemas with different texts in a CRD have different fingerprints: each schema is
// compared with the same one after a change of one field.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	var e Emitter
	text := func(s props) (fingerprint, yaml string) {
		written, ok := e.Fingerprint(&s)
		if !ok {
			t.Fatal("no fingerprint")
		}
		fingerprint = string(written)
		content, err := e.CRD(crdOf(s))
		if err != nil {
			t.Fatal(err)
		}
		return fingerprint, string(content)
	}
	changed := 0
	for seed := range uint64(400) {
		texts, raws := []string{"", "word", "a: b", "one\ntwo", " x", "1"}, []string{"1", `"a"`, `{"b":[1.5]}`, "true", "null"}
		f := filler{Rand: rand.New(rand.NewPCG(seed, 0)), texts: texts, raws: raws, sparse: 8, without: "Dependencies"}
		var a props
		f.fill(reflect.ValueOf(&a).Elem(), 3)
		b := *a.DeepCopy()
		for reflect.DeepEqual(a, b) {
			v := reflect.ValueOf(&b).Elem()
			if i := f.IntN(v.NumField()); v.Type().Field(i).Name != f.without {
				f.fill(v.Field(i), 2)
			}
		}
		one, first := text(a)
		two, second := text(b)
		if first != second {
			changed++
		}
		if one == two && first != second {
			t.Errorf("seed %d: these have the same fingerprint:\n%s\n%s", seed, first, second)
		}
	}
	if changed < 250 {
		t.Errorf("%d schemas changed: this compares little", changed)
	}
}

// TestFrame uses texts outside the schemas that look like the placeholder of a schema.
func TestFrame(t *testing.T) {
	c := crdOf(props{Type: "object"}, props{})
	if !same(t, c, genall.WithTransform(genall.TransformRemoveCreationTimestamp), genall.WithTransform(func(o map[string]any) error {
		delete(o, "status")
		o["spec"].(map[string]any)["preserveUnknownFields"] = false
		return nil
	})) {
		t.Error("the library wrote the CRD")
	}
	broken := errors.New("broken")
	same(t, c, genall.WithTransform(func(map[string]any) error { return broken }))

	c.Spec.Group = "a" + strings.ReplaceAll(place, "\n    ", "\n") // below group, which indents it
	if same(t, c) {
		t.Error("a group was replaced as the placeholder of a schema")
	}
	c = crdOf(props{Type: placeType})
	c.Spec.Names.Categories = []string{place}
	same(t, c)
	c = crdOf(props{}, props{})
	c.Spec.Versions[1].Schema = nil
	same(t, c)
	c.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{}
	same(t, c)
	same(t, crdOf())
	same(t, crdOf(props{Default: &apiextensionsv1.JSON{Raw: []byte("1")}}, props{Default: &apiextensionsv1.JSON{Raw: []byte("1")}}))
}

// TestKeyOrder compares keys in pairs. With three keys, the library's order can be cyclic
// (a1b, a01, a10b), and its output is then random.
func TestKeyOrder(t *testing.T) {
	keys := []string{"a", "b", "A", "B", "a1", "a2", "a10", "a01", "a001", "a1b", "a10b", "a1.5", "1", "2", "10", "0", "00", "-a", "a-b", "aB", "ab", "é",
		"ab0", "ab00", "a100", "a101", "a²", "٣", "a٣", "日", "a99999999999999999999", "a_b", "a.b", "$a"}
	for i, a := range keys {
		for _, b := range keys[:i] {
			if !same(t, crdOf(props{Properties: map[string]props{a: {}, b: {}}})) {
				t.Errorf("the library wrote the CRD with %q, %q", a, b)
			}
		}
	}
}

func FuzzCRD(f *testing.F) {
	for i := range 300 {
		f.Add(uint64(i), odd[i%len(odd)], rawJSON[i%len(rawJSON)])
	}
	f.Fuzz(func(t *testing.T, seed uint64, text, raw string) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var s [2]props
		for i := range s {
			texts, raws := append([]string{text}, odd...), append([]string{raw}, rawJSON...)
			if seed%3 > 0 { // mostly what has no error in it
				texts, raws = []string{text, "word", "two words", "a\nb", "it's: x", "1"}, []string{"1", `"a"`, `{"b":[1.5]}`, "true"}
			}
			filler{Rand: rnd, texts: texts, raws: raws, sparse: 8}.fill(reflect.ValueOf(&s[i]).Elem(), 4)
		}
		same(t, crdOf(s[:1+seed%2]...))
	})
}

// filler sets exported fields to random values.
type filler struct {
	*rand.Rand
	texts, raws []string
	sparse      int    // one field in so many is set
	without     string // a field that is not set in structs
}

func (f filler) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.texts[f.IntN(len(f.texts))])
	case reflect.Bool:
		v.SetBool(f.sparse == 1 || f.IntN(2) > 0)
	case reflect.Int64:
		v.SetInt(int64(f.Uint64()) >> f.IntN(64))
	case reflect.Float64:
		v.SetFloat(f.NormFloat64() * math.Pow10(f.IntN(40)-20))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(f.raws[f.IntN(len(f.raws))]))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+f.IntN(3), 4))
		for i := range v.Len() {
			f.fill(v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + f.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth)
			f.fill(value, depth)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		if depth == 0 {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != f.without && f.IntN(f.sparse) == 0 {
				f.fill(v.Field(i), depth-1)
			}
		}
	default:
		panic("a field of the new kind " + v.Kind().String())
	}
}
