package gen_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// applied has packages with apply configurations, and the kinds of types that their schemas distinguish.
const applied = `
-- hack/boilerplate.go.txt --
/*
Copyright Zoo.
*/
-- api/v4/doc.go --
// Package v4 has rays.
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=sea.example.com
package v4

import "k8s.io/apimachinery/pkg/runtime/schema"

// SchemeGroupVersion is used by the generated code.
var SchemeGroupVersion = schema.GroupVersion{Group: "sea.example.com", Version: "v4"}
-- api/v4/ray.go --
package v4

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/zoo/api/parts"
)

// Depth has an alias.
type Depth struct {
	// +kubebuilder:validation:Minimum=1
	Meters int32 ` + "`json:\"meters\"`" + `
}

// Deep is the same as Depth.
type Deep Depth

// Hue is a color.
type Hue Color

// Color is a text.
// +kubebuilder:validation:Enum=red;blue
type Color string

// Tail is embedded.
type Tail struct {
	Length *resource.Quantity ` + "`json:\"length,omitempty\"`" + `
	Deep   *Deep              ` + "`json:\"deep,omitempty\"`" + `
	Hue    Hue                ` + "`json:\"hue,omitempty\"`" + `
}

// RaySpec is a spec.
type RaySpec struct {
	Tail       ` + "`json:\",inline\"`" + `
	parts.Fins ` + "`json:\",inline\"`" + `
	Depth      Depth                 ` + "`json:\"depth\"`" + `
	Colors     []Color               ` + "`json:\"colors,omitempty\"`" + `
	// +listType=map
	// +listMapKey=name
	Ports []Port                     ` + "`json:\"ports,omitempty\"`" + `
	// +listType=set
	Names    []string                ` + "`json:\"names,omitempty\"`" + `
	ByName   map[string]Depth        ` + "`json:\"byName,omitempty\"`" + `
	Raw      runtime.RawExtension    ` + "`json:\"raw,omitempty\"`" + `
	Either   *intstr.IntOrString     ` + "`json:\"either,omitempty\"`" + `
	Every    metav1.Duration         ` + "`json:\"every,omitempty\"`" + `
	Selector *metav1.LabelSelector   ` + "`json:\"selector,omitempty\"`" + `
	// +structType=atomic
	Pod   *corev1.PodTemplateSpec    ` + "`json:\"pod,omitempty\"`" + `
	Wings *parts.Wings               ` + "`json:\"wings,omitempty\"`" + `
	Next  *RaySpec                   ` + "`json:\"next,omitempty\"`" + `
	Ratio float64                    ` + "`json:\"ratio,omitempty\"`" + ` // is also a comment of the next field
	Cabin Cabin                      ` + "`json:\"cabin,omitempty\"`" + `
	Gates map[string]Gate            ` + "`json:\"gates,omitempty\"`" + `
	Quill *Quill                     ` + "`json:\"quill,omitempty\"`" + `
	Doors []*Gate                    ` + "`json:\"doors,omitempty\"`" + `
	Any   *corev1.ResourceList       ` + "`json:\"any,omitempty\"`" + `
}

// Cabin is declared in another package, whose comments its fields keep.
type Cabin corev1.LocalObjectReference

// Quill is declared in another package of the project.
type Quill parts.Bone

// Gate is an alias, whose comment is not that of Port.
type Gate = Port

// A comment that is not next to a declaration belongs to it, too.

// Port has a key.
type Port struct {
	Name string ` + "`json:\"name\"`" + `
	Port int32  ` + "`json:\"port,omitempty\"`" + `
}

// RayStatus is a status.
type RayStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition ` + "`json:\"conditions,omitempty\"`" + `
	Seen       *metav1.Time       ` + "`json:\"seen,omitempty\"`" + `
}

// Ray is a kind.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=rays,scope=Cluster
type Ray struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec              RaySpec   ` + "`json:\"spec,omitempty\"`" + `
	Status            RayStatus ` + "`json:\"status,omitempty\"`" + `
}

// Shark is a namespaced kind.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=sharks
type Shark struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec              Depth ` + "`json:\"spec,omitempty\"`" + `
}

// Whale has none.
// +kubebuilder:ac:generate=false
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=whales
type Whale struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
-- api/parts/parts.go --
// Package parts has parts of rays.
// +kubebuilder:object:generate=true
package parts

// Fins are embedded elsewhere.
type Fins struct {
	Fins *int32 ` + "`json:\"fins,omitempty\"`" + `
}

// Wings are a field.
type Wings struct {
	Span  int32  ` + "`json:\"span,omitempty\"`" + `
	Bones []Bone ` + "`json:\"bones,omitempty\"`" + `
}

// Bone is part of wings.
type Bone struct {
	Hard bool ` + "`json:\"hard,omitempty\"`" + `
}
-- api/v5/doc.go --
// Package five has another name and folder.
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=../clients
// +groupName=sea.example.com
// +versionName=v5
package five

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SchemeGroupVersion is used by the generated code.
var SchemeGroupVersion = schema.GroupVersion{Group: "sea.example.com", Version: "v5"}

// Squid is a kind.
// +kubebuilder:ac:generate=true
type Squid struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	// Arms are many.
	Arms int ` + "`json:\"arms\"`" + `
}
`

// TestApplyConfigurations compares apply configurations with the files of controller-gen.
func TestApplyConfigurations(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"external":    "applyconfiguration:headerFile=hack/boilerplate.go.txt,externalApplyConfigurations=example.com/zoo/api/parts.Wings@example.com/zoo/wings paths=./api/v4",
		"with others": "rbac:roleName=r crd:allowDangerousTypes=true,ignoreUnexportedFields=true webhook applyconfiguration:headerFile=hack/boilerplate.go.txt object paths=./...",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gentest.SameInBoth(t, gentest.Zoo(t, applied), strings.Fields(args))
		})
	}
}
