package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
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

// TestApplyConfigurations compares apply configurations with those of controller-gen.
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

// TestApplyConfigurationsOfEditedPackage edits a package, and expects that other outputs than its own are not needed again.
func TestApplyConfigurationsOfEditedPackage(t *testing.T) {
	t.Parallel()
	dir, cache := gentest.Zoo(t, applied), t.TempDir()
	args := []string{"applyconfiguration", "paths=./..."}
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": args}}}
	r := request.Request{Dir: dir, Project: cfg, Store: store.Open(cache), Program: gentest.Program(t)}
	if err := gen.Plan(t.Context(), r, gentest.NewPlan(t, dir)); err != nil {
		t.Fatal(err)
	}
	gentest.SameWithCache(t, dir, args, cache)
	r.Program = "" // all must come from the store
	if err := gen.Plan(t.Context(), r, gentest.NewPlan(t, dir)); err != nil {
		t.Error(err)
	}
	gentest.Replace(t, filepath.Join(dir, "api/v5/doc.go"), "\t// Arms", "\t// Legs are new.\n\tLegs int `json:\"legs\"`\n\t// Arms")
	if gen.Plan(t.Context(), r, gentest.NewPlan(t, dir)) == nil {
		t.Error("outputs of the earlier sources are used")
	}
	gentest.SameWithCache(t, dir, args, cache)
}

// TestApplyConfigurationsOfPlannedSource generates from a source that is only planned, with its comments.
func TestApplyConfigurationsOfPlannedSource(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t, applied)
	const source = "api/parts/parts.go"
	content, err := os.ReadFile(filepath.Join(dir, source))
	if err == nil {
		err = os.Remove(filepath.Join(dir, source))
	}
	if err != nil {
		t.Fatal(err)
	}
	planned := strings.Replace(string(content), "\tHard bool", "\t// Hard bones break.\n\tHard bool", 1)
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []string{"applyconfiguration", "paths=./..."}}}}
	p := gentest.NewPlan(t, dir)
	if err := p.Seed(source, 0o644, []byte(planned)); err != nil {
		t.Fatal(err)
	}
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Program: gentest.Program(t)}, p); err != nil {
		t.Fatal(err)
	}
	const output = "api/v4/applyconfiguration/api/v4/quill.go"
	if got := gentest.Generated(p)[output]; !strings.Contains(got, "\t// Hard bones break.\n\tHard ") {
		t.Errorf("%s:\n%s", output, got)
	}
}

// TestApplyConfigurationsFail expects the errors that controller-gen prints, or one of operon's own.
func TestApplyConfigurationsFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, new, want string }{
		"syntax":    {"Arms int ", "Arms int int ", "api/v5/doc.go:22:"},
		"no group":  {"// +groupName=sea.example.com\n// +versionName", "// +versionName", "could not infer groupVersion"},
		"elsewhere": {"package=../clients", "package=../../../clients", "api/v5/doc.go: the folder ../../../clients of +kubebuilder:ac:output:package is outside the project"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t, applied)
			gentest.Replace(t, filepath.Join(dir, "api/v5/doc.go"), tt.old, tt.new)
			cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []string{"applyconfiguration", "paths=./api/v5"}}}}
			err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Program: gentest.Program(t)}, gentest.NewPlan(t, dir))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
