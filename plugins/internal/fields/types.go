package fields

import (
	"maps"
	"slices"
	"strings"
)

// Type is a type that a field can have.
type Type struct {
	Name   string // in descriptions
	Go     string
	Import string // the line of the import, or ""
	doc    string // the value, for comments
	kind   kind
	schema map[string]any
	format string // the format of its values, which a default must have
}

// kind groups types whose values have the same form.
type kind int

const (
	text kind = iota
	integer
	boolean
	formatted // text in a form of its own, such as a duration
	numberOrText
	object
)

// Lines of imports.
const (
	// ImportCore is the import of the core API group, which is in a module of its own.
	ImportCore      = `corev1 "k8s.io/api/core/v1"`
	importQuantity  = `"k8s.io/apimachinery/pkg/api/resource"`
	ImportMeta      = `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`
	ImportRuntime   = `"k8s.io/apimachinery/pkg/runtime"`
	importIntString = `"k8s.io/apimachinery/pkg/util/intstr"`
)

// types are the types in the order of the documentation. The schemas are those that controller-gen
// makes of the Go types, as far as a sample needs them.
var types = []Type{
	{Name: "string", Go: "string", doc: "a string", kind: text, schema: map[string]any{"type": "string"}},
	{Name: "bool", Go: "bool", doc: "true or false", kind: boolean, schema: map[string]any{"type": "boolean"}},
	{Name: "int32", Go: "int32", doc: "an integer", kind: integer, schema: map[string]any{"type": "integer", "format": "int32"}},
	{Name: "int64", Go: "int64", doc: "an integer", kind: integer, schema: map[string]any{"type": "integer", "format": "int64"}},
	{Name: "quantity", Go: "resource.Quantity", Import: importQuantity, doc: "a quantity, such as 500Mi", kind: numberOrText,
		format: "quantity", schema: map[string]any{"x-kubernetes-int-or-string": true, "example": "500Mi"}},
	{Name: "duration", Go: "metav1.Duration", Import: ImportMeta, doc: "a duration, such as 1m30s", kind: formatted, format: "duration",
		schema: map[string]any{"type": "string", "example": "1m30s"}},
	{Name: "time", Go: "metav1.Time", Import: ImportMeta, doc: "a time, such as 2030-01-02T15:04:05Z", kind: formatted, format: "date-time",
		schema: map[string]any{"type": "string", "format": "date-time"}},
	{Name: "bytes", Go: "[]byte", doc: "data in base64", kind: formatted, format: "byte",
		schema: map[string]any{"type": "string", "format": "byte"}},
	{Name: "int-or-string", Go: "intstr.IntOrString", Import: importIntString, doc: "a number or a string", kind: numberOrText,
		schema: map[string]any{"x-kubernetes-int-or-string": true}},
	{Name: "object", Go: "runtime.RawExtension", Import: ImportRuntime, doc: "an object with any fields", kind: object,
		schema: map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	{Name: "ref", Go: "corev1.LocalObjectReference", Import: ImportCore, doc: "the name of an object in the same namespace", kind: object,
		schema: objectOf(map[string]any{"name": map[string]any{"type": "string", "default": ""}})},
	{Name: "secret-key", Go: "corev1.SecretKeySelector", Import: ImportCore, doc: "a key of a Secret in the same namespace",
		kind: object, schema: keySelector},
	{Name: "configmap-key", Go: "corev1.ConfigMapKeySelector", Import: ImportCore, doc: "a key of a ConfigMap in the same namespace", kind: object, schema: keySelector},
}

var keySelector = objectOf(map[string]any{
	"key":      map[string]any{"type": "string", "example": "password"},
	"name":     map[string]any{"type": "string", "example": "example"},
	"optional": map[string]any{"type": "boolean"},
}, "key", "name")

func objectOf(properties map[string]any, required ...any) map[string]any {
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// typeNames returns the names of all types.
func typeNames() []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name
	}
	return names
}

// otherNames are names that other tools have for types. A description must use the name that the
// value stands for.
var otherNames = map[string]string{
	"int": "int32 or int64", "integer": "int32 or int64", "uint": "int32 or int64 with min=0",
	"uint32": "int64 with min=0", "uint64": "int64 with min=0",
	"float": "quantity, because floating-point numbers lose precision in JSON", "float32": "quantity, because floating-point numbers lose precision in JSON",
	"float64": "quantity, because floating-point numbers lose precision in JSON", "number": "int32, int64 or quantity",
	"boolean": "bool", "text": "string", "any": "object", "json": "object", "map": "map[string]string",
	"list": "[]string", "array": "[]string",
	"secret": "secret-key or ref", "configmap": "configmap-key or ref", "date": "time", "timestamp": "time", "struct": "a field of the object, as in NAME.FIELD:TYPE",
}

// typeHint returns what to write instead of an unknown name of a type.
func typeHint(name string) string {
	if other := otherNames[strings.ToLower(name)]; other != "" {
		return "use " + other
	}
	return "types: " + strings.Join(typeNames(), ", ") + "; [] before a type makes a list, map[string] a map"
}

// copySchema returns a copy of the schema of t that the caller may change.
func (t Type) copySchema() map[string]any { return maps.Clone(t.schema) }

// isScalar reports whether values are single values and not objects.
func (t Type) isScalar() bool { return t.kind != object }

// pointed reports whether an optional field needs a pointer to tell a missing value from the zero one.
func (t Type) pointed() bool { return t.Go != "[]byte" }

func find(name string) (Type, bool) {
	i := slices.IndexFunc(types, func(t Type) bool { return t.Name == name })
	if i < 0 {
		return Type{}, false
	}
	return types[i], true
}
