package depcache

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/store"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// someSchemas have what a codec may lose: pointers to zero values, JSON with
// spaces and with what other encoders escape, and both forms of a field.
var someSchemas = map[string]apiextensionsv1.JSONSchemaProps{
	"Pod": {
		Type:        "object",
		Description: "Lines\nand \"quotes\" and <é>.",
		Required:    []string{"b", "a"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"a": {Ref: new("#/definitions/k8s.io~1api~1core~1v1~0Env"), MinLength: new(int64(0)), Maximum: new(0.1)},
			"b": {Ref: new("#/definitions/Local"), Default: &apiextensionsv1.JSON{Raw: []byte(`{ "x": "<&>" }`)}},
			"c": {XPreserveUnknownFields: new(false), XListType: new(""), Enum: []apiextensionsv1.JSON{{Raw: []byte(`1.0`)}}},
		},
		XValidations: apiextensionsv1.ValidationRules{{Rule: "self > 0", OptionalOldSelf: new(false)}},
	},
	"Any": {AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}},
	"Map": {AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &apiextensionsv1.JSONSchemaProps{
		Ref: new("#/definitions/time~0Time"),
	}}},
	"List": {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{XIntOrString: true}}},
}

func entry(t *testing.T, sum store.Key, closure ...string) *Entry {
	t.Helper()
	e := &Entry{Closure: closure, Sum: sum, Types: []byte("types"), Group: "g", Grouped: true}
	if err := e.SetSchemas(someSchemas); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCodec(t *testing.T) {
	t.Parallel()
	want := []*Entry{entry(t, store.KeyOf("1"), "k8s.io/x", "time"), {Closure: []string{"y"}}}
	content := Encode(want)
	got, ok := decode(content)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Entry{}), cmp.Transformer("text", func(b []byte) string { return string(b) })); !ok || diff != "" {
		t.Fatalf("ok is %v (-want +got):\n%s", ok, diff)
	}
	if diff := cmp.Diff([]string{"k8s.io/api/core/v1", "time"}, got[0].Uses); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	back, ok := got[0].Schemas()
	if diff := cmp.Diff(someSchemas, back); !ok || diff != "" {
		t.Errorf("schemas, ok is %v (-want +got):\n%s", ok, diff)
	}
	for i := range content {
		if _, ok := decode(content[:i]); ok {
			t.Errorf("%d of %d bytes are enough", i, len(content))
		}
		damaged := append([]byte{}, content...)
		damaged[i] ^= 0x80
		if entries, ok := decode(damaged); ok {
			for _, e := range entries {
				e.Schemas() // it must not panic
			}
		}
	}
	if _, ok := decode(append(content, 0)); ok {
		t.Error("more bytes than there are entries")
	}
}
