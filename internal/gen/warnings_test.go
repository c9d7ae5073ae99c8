package gen_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/pins"
)

const careless = `
-- Makefile --
# Tools.
CONTROLLER_TOOLS_VERSION ?= v0.21.0
-- internal/careless/careless.go --
// Package careless has markers that do nothing.
package careless

//+kubebuilder:rbac:groups=apps/v1,resources=deployments,verbs=get
// +kubebuilder:rbac:groups="";v1;batch,resources=pods,verbs=get

// Reconcile is documented.
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get
func Reconcile() {
	// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get
	print("x")
}

// Show shows how to write a marker:
//
//	// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get
//	+kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get
func Show() {}

// +kubebuilder:rbac:groups=policy,resources=evictions,verbs=create
// +kubebuilder:rbc:groups=apps,resources=daemonsets,verbs=get
// +kubebuidler:rbac:groups=apps,resources=daemonsets,verbs=get
// +kubebuilder:rbac;groups=apps,resources=daemonsets,verbs=get
// +kubebuilder:nonsense

// Spec is.
// +kubebuilder:validation:Enums=a;b
// +kubebuilder:printcolum:name="X",type=string,JSONPath=` + "`.x`" + `
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get
type Spec struct {
	// +kubebuilder:printcolumn:name="X",type=string,JSONPath=` + "`.x`" + `
	// +kubebuilder:validation:minimum=1
	// +optional
	// +k8s:required
	// +genclient
	A int ` + "`json:\"a\"`" + `
	// +kubebuilder:scaffold:fields
	// +kubebuilder:validation:MinLength=1
}

// +kubebuilder:resource:path=x

// Package level text.

// +kubebuilder:validation:Enum=a;b
const X = "a"

// +kubebuilder:scaffold:builder
// +kubebuilder:docs-gen:collapse=Apache License
`

// TestMarkerWarnings lists markers that controller-gen silently ignores.
func TestMarkerWarnings(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t, careless)
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Only: []string{"rbac"}}, p); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(strings.TrimPrefix(`
Makefile:2:1: [controller-tools-version] the project pins controller-tools v0.21.0 and operon generates with HAVE; choose once: operon generate --controller-tools operon, or --controller-tools v0.21.0
internal/careless/careless.go:4:28: [rbac-group-version] the API group "apps/v1" contains a version and matches nothing; write groups=apps
internal/careless/careless.go:5:32: [rbac-group-version] the API group "v1" contains a version and matches nothing; write groups=""
internal/careless/careless.go:8:4: [marker-ignored] +kubebuilder:rbac has no effect here: it describes a package, but this is the doc comment of func Reconcile; leave an empty line below it
internal/careless/careless.go:10:5: [marker-ignored] +kubebuilder:rbac has no effect here: it describes a package, but this is inside func Reconcile
internal/careless/careless.go:21:4: [marker-unknown] +kubebuilder:rbc:groups is not a marker of controller-gen, which ignores it; did you mean +kubebuilder:rbac?
internal/careless/careless.go:22:4: [marker-unknown] +kubebuidler:rbac:groups is not a marker of controller-gen, which ignores it; did you mean +kubebuilder:rbac?
internal/careless/careless.go:23:4: [marker-unknown] +kubebuilder:rbac;groups is not a marker of controller-gen, which ignores it; did you mean +kubebuilder:rbac?
internal/careless/careless.go:24:4: [marker-unknown] +kubebuilder:nonsense is not a marker of controller-gen, which ignores it
internal/careless/careless.go:27:4: [marker-unknown] +kubebuilder:validation:Enums is not a marker of controller-gen, which ignores it; did you mean +kubebuilder:validation:Enum?
internal/careless/careless.go:28:4: [marker-unknown] +kubebuilder:printcolum:name is not a marker of controller-gen, which ignores it; did you mean +kubebuilder:printcolumn?
internal/careless/careless.go:29:4: [marker-ignored] +kubebuilder:rbac has no effect here: it describes a package, but this is the doc comment of type Spec; leave an empty line below it
internal/careless/careless.go:31:5: [marker-ignored] +kubebuilder:printcolumn has no effect here: it describes a type, but this is the doc comment of field A
internal/careless/careless.go:32:5: [marker-unknown] +kubebuilder:validation:minimum is not a marker of controller-gen, which ignores it; did you mean +kubebuilder:validation:Minimum?
internal/careless/careless.go:38:5: [marker-ignored] +kubebuilder:validation:MinLength has no effect here: it describes a field or a type, but this is inside type Spec
internal/careless/careless.go:41:4: [marker-ignored] +kubebuilder:resource has no effect here: it describes a type, but none follows
internal/careless/careless.go:45:4: [marker-ignored] +kubebuilder:validation:Enum has no effect here: it describes a field or a type, but this is the doc comment of a const declaration
`, "\n"), "HAVE", pins.ControllerTools)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(gentest.Warnings(p), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The ignored markers must have no effect on the role.
	role := gentest.Generated(p)["config/rbac/role.yaml"]
	for _, ignored := range []string{"daemonsets", "replicasets", "statefulsets"} {
		if strings.Contains(role, ignored) {
			t.Errorf("%s is in the role:\n%s", ignored, role)
		}
	}
	if !strings.Contains(role, "evictions") {
		t.Errorf("evictions are not in the role:\n%s", role)
	}
}
