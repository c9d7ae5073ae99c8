// Package odd has types of all kinds, some of which have no schema.
// +groupName=odd.example.org
// +versionName=v7
package odd

import (
	"encoding/json"
	"time"

	. "github.com/operon-dev/operon/internal/gen/generate/schemas/testdata/odd/other"
	dot "github.com/operon-dev/operon/internal/gen/generate/schemas/testdata/odd/other"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Basics has basic types.
type Basics struct {
	Bool    bool       `json:"bool"`
	Int     int        `json:"int,omitempty"`
	Int32   int32      `json:"int32,omitzero"`
	Uint64  *uint64    `json:"uint64"`
	Rune    rune       `json:"rune"`
	Byte    byte       `json:"byte"`
	Bytes   []byte     `json:"bytes"`
	Array   [3]byte    `json:"array"`
	Float   float32    `json:"float"`
	Complex complex128 `json:"complex"`
	Text    string     `json:"-,"`
	Skipped string     `json:"-"`
	hidden  string     `json:"hidden"`
	secret  string
	NoTag   string
	Yaml    string `yaml:"yaml"`
	Error   error  `json:"error"`
}

// Named has named types.
//
// Its documentation has two paragraphs.
type Named struct {
	Plain      `json:",inline"`
	Basics     `json:""`
	dot.ByName `json:"byName,inline"`
	Other      dot.Plain   `json:"other"`
	Texts      dot.Texts   `json:"texts"`
	Pointer    *dot.ByName `json:"pointer"`
	Word       Letters     `json:"word"`
	Alias      LettersToo  `json:"alias"`
	Int        Count       `json:"int"`
	Whole      Number      `json:"whole"`
	List       []Count     `json:"list"`
	Self       *Named      `json:"self"`
	Quantity   dot.Renamed `json:"quantity"`
	Unknown    Missing     `json:"unknown"`
	Gone       dot.Missing `json:"gone"`
	Lost       lost.Type   `json:"lost"`
}

type (
	// Letters is text.
	// +kubebuilder:validation:Enum=a;b
	// +kubebuilder:validation:MaxLength=3
	Letters string
	// LettersToo is an alias.
	LettersToo = Letters
	// Count is a number.
	// +kubebuilder:validation:Minimum=1
	Count int32
	// Number is an alias of a basic type.
	Number = int64
	// Ratio is a float.
	Ratio float64
	// Slice is a list.
	// +listType=set
	Slice []Letters
	// Table is a map.
	Table map[Letters]Slice
	// SliceToo is an alias of a list.
	SliceToo = []string
	// Again is another type with the fields of Plain.
	Again Plain
	// Pointer is a pointer.
	Pointer *Count
	// Func is a function.
	Func func()
	// Channel is a channel.
	Channel chan int
	// Face is an interface.
	Face interface{ Look() }
	// Any is an interface.
	Any = any
	// List is generic.
	List[T any] struct {
		Items []T `json:"items"`
	}
	// Strings is an instance.
	Strings List[string]
)

// Unsupported has types without a schema.
type Unsupported struct {
	Func     func()            `json:"func"`
	Channel  chan int          `json:"channel"`
	Face     Face              `json:"face"`
	Any      any               `json:"any"`
	Empty    interface{}       `json:"empty"`
	Struct   struct{ A int }   `json:"struct"`
	Structs  []struct{ A int } `json:"structs"`
	Foreign  dot.Doer          `json:"foreign"`
	Anything dot.Anything      `json:"anything"`
	Generic  List[string]      `json:"generic"`
	Paren    (string)          `json:"paren"`
	Ratio    Ratio             `json:"ratio"`
}

// Alias is an alias of an alias.
type Alias struct {
	Any Any `json:"any"`
}

// Far has a type of a package that this package does not import.
type Far struct {
	Far Distant `json:"far"`
}

// Maps has maps.
type Maps struct {
	Texts    map[string]string             `json:"texts"`
	Named    map[Letters]Count             `json:"named"`
	Aliased  map[LettersToo]*Plain         `json:"aliased"`
	Nested   map[string]map[string][]Count `json:"nested"`
	Foreign  map[dot.Word]dot.Plain        `json:"foreign"`
	Marshals map[Code]string               `json:"marshals"`
	Numbers  map[int]string                `json:"numbers"`
	Counts   map[Count]string              `json:"counts"`
	Structs  map[Plain]string              `json:"structs"`
	Pointers map[*string]string            `json:"pointers"`
	Faces    map[string]interface{}        `json:"faces"`
	Inline   map[string]struct{}           `json:"inline"`
	Funcs    map[string]func()             `json:"funcs"`
	Any      map[string]any                `json:"any"`
	Unknown  map[Missing]Missing           `json:"unknown"`
}

// Known has types with special JSON.
type Known struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Meta     metav1.ObjectMeta     `json:"meta"`
	Time     metav1.Time           `json:"time"`
	Micro    *metav1.MicroTime     `json:"micro"`
	Duration metav1.Duration       `json:"duration"`
	Fields   *metav1.FieldsV1      `json:"fields"`
	Selector *metav1.LabelSelector `json:"selector"`
	Quantity resource.Quantity     `json:"quantity"`
	Format   resource.Format       `json:"format"`
	Port     intstr.IntOrString    `json:"port"`
	Raw      runtime.RawExtension  `json:"raw"`
	JSON     apiextensionsv1.JSON  `json:"json"`
	Message  json.RawMessage       `json:"message"`
	Go       time.Time             `json:"go"`
	Wait     time.Duration         `json:"wait"`
}

// Code is marshalled as text.
type Code struct{ A int }

// MarshalText implements encoding.TextMarshaler.
func (Code) MarshalText() ([]byte, error) { return nil, nil }

// Wrong is marshalled as text.
// +kubebuilder:validation:Type=integer
type Wrong int

// MarshalText implements encoding.TextMarshaler.
func (*Wrong) MarshalText() ([]byte, error) { return nil, nil }

// Custom has its own JSON.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Pattern=^a$
type Custom struct{ A int }

// MarshalJSON implements json.Marshaler.
func (Custom) MarshalJSON() ([]byte, error) { return nil, nil }

// Fallback has its own JSON, and no marker with its type.
type Fallback struct {
	A int `json:"a"`
}

// MarshalJSON implements json.Marshaler.
func (Fallback) MarshalJSON() ([]byte, error) { return nil, nil }

// Marked has markers.
// +kubebuilder:validation:XValidation:rule="self.a != 1"
// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtMostOneOf=c;d
// +structType=atomic
type Marked struct {
	// A is marked.
	// +kubebuilder:validation:items:MaxLength=2
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:default={x}
	// +listType=set
	A []string `json:"a,omitempty"`
	// +kubebuilder:validation:items:MaxLength=2
	B string `json:"b,omitempty"`
	// +kubebuilder:validation:MaxLength=2
	// +kubebuilder:validation:Minimum=2
	C int `json:"c,omitempty"`
	// +listType=map
	// +listMapKey=a
	D *Plain `json:"d,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	E func() `json:"e"`
	// +kubebuilder:validation:EmbeddedResource
	// +nullable
	F *runtime.RawExtension `json:"f"`
	// +kubebuilder:title=G
	// +kubebuilder:example=x
	// +kubebuilder:externalDocs:url="no url"
	G string `json:"g"`
	// +k8s:immutable
	// +optional
	H string `json:"h"`
	// +k8s:immutable
	I string `json:"i"`
	// +mapType=atomic
	J map[string]string `json:"j,omitempty"`
	// +kubebuilder:validation:Enum={a,1}
	K Letters `json:"k"`
}

// Required has fields that are required, or not.
type Required struct {
	// +optional
	A string `json:"a"`
	// +kubebuilder:validation:Optional
	// +required
	B string `json:"b"`
	// +required
	C string `json:"c,omitempty"`
	// +k8s:required
	// +optional
	D string `json:"d,omitempty"`
	// +kubebuilder:validation:Required
	E string `json:"e,omitempty"`
	// +k8s:optional
	F string `json:"f"`
	// +required
	Plain `json:",inline"`
}

// MustOne names a required field.
// +kubebuilder:validation:ExactlyOneOf=a;b
type MustOne struct {
	A string `json:"a"`
	B string `json:"b,omitempty"`
}

// MarkedOne names a field that a marker requires.
// +kubebuilder:validation:AtLeastOneOf=a;b
type MarkedOne struct {
	B string `json:"b,omitempty"`
	// +required
	A string `json:"a,omitempty"`
}

// DeepOne names nested fields.
// +kubebuilder:validation:AtMostOneOf=a.b;c;d.e
type DeepOne struct {
	A string `json:"a,omitempty"`
}
