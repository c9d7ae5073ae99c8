package gen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

const typeMarkers = `
-- api/v9/types.go --
// +groupName=zoo.example.com
package v9

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bear is a kind.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// kubebuilder:resource:scope=Cluster
//kubebuilder:printcolumn:name="A B",type=string,JSONPath=".spec.a"
type Bear struct {
	metav1.TypeMeta   ~json:",inline"~
	metav1.ObjectMeta ~json:"metadata,omitempty"~
	Spec BearSpec     ~json:"spec"~
}

// BearList is a list.
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
type BearList struct {
	metav1.TypeMeta ~json:",inline"~
	metav1.ListMeta ~json:"metadata,omitempty"~
	Items []Bear    ~json:"items"~
}

// BearSpec is what a bear wants. kubebuilder:resource:scope=Cluster belongs to the kind.
// kubebuilder:resource:scope=Cluster is for the kind.
// kubebuilder:unknown:x=1
// +kubebuilder:printcolumn:name=A,type=string,JSONPath=".spec.a"
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:subresource:status
type BearSpec struct {
	// kubebuilder:validation:MinLength=1
	A string            ~json:"a"~
	Inner InnerAlias    ~json:"inner"~
	More []MoodAlias    ~json:"more"~
	Wait *Wait          ~json:"wait"~
	Text Text           ~json:"text"~
}

// Honey is for bears.
// +kubebuilder:storageversion
type Honey struct {
	metav1.TypeMeta ~json:",inline"~
}

// Panda is another name of a kind, and may be a version of it.
// +kubebuilder:storageversion
// +kubebuilder:validation:MinProperties=1
type Panda = Bear

// PandaList is a list.
type PandaList struct {
	Items []Panda ~json:"items"~
}

// Inner is a struct.
type Inner struct {
	A string ~json:"a,omitempty"~
}

// InnerAlias is an alias of a struct.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="has(self.a)"
type InnerAlias = Inner

// Mood is a text.
type Mood string

// MoodAlias is an alias of another type.
// +kubebuilder:validation:Enum=a;b
type MoodAlias = Mood

// Wait is an alias of a type in another package.
// +kubebuilder:validation:Type=string
type Wait = metav1.Duration

// Text is an alias that the library handles like a declaration.
// +kubebuilder:validation:MinLength=1
type Text = string

// Unused is an alias for other packages, where it has an effect.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:object:generate=false
type Unused = Inner
`

// TestTypeMarkerWarnings lists markers of types that have no effect on the CRD.
func TestTypeMarkerWarnings(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t, strings.ReplaceAll(typeMarkers, "~", "`"))
	args := []string{"crd", "paths=./api/v9"}
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: args}, p); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
api/v9/types.go:9:4: [marker-ignored] kubebuilder:resource needs a plus sign to be a marker; write +kubebuilder:resource
api/v9/types.go:10:3: [marker-ignored] kubebuilder:printcolumn needs a plus sign to be a marker; write +kubebuilder:printcolumn
api/v9/types.go:19:4: [marker-ignored] +kubebuilder:resource has no effect here: it describes a kind, but BearList does not embed metav1.TypeMeta and metav1.ObjectMeta; move it to type Bear
api/v9/types.go:29:4: [marker-ignored] +kubebuilder:printcolumn has no effect here: it describes a kind, but BearSpec does not embed metav1.TypeMeta and metav1.ObjectMeta; move it to type Bear
api/v9/types.go:31:4: [marker-ignored] +kubebuilder:subresource:status has no effect here: it describes a kind, but BearSpec does not embed metav1.TypeMeta and metav1.ObjectMeta; move it to type Bear
api/v9/types.go:33:5: [marker-ignored] kubebuilder:validation:MinLength needs a plus sign to be a marker; write +kubebuilder:validation:MinLength
api/v9/types.go:42:4: [marker-ignored] +kubebuilder:storageversion has no effect here: it describes a kind, but Honey does not embed metav1.TypeMeta and metav1.ObjectMeta
api/v9/types.go:63:4: [marker-ignored] +kubebuilder:validation:MinProperties has no effect here: fields with the alias InnerAlias have the schema of Inner; mark the fields, or delete the = of the alias
api/v9/types.go:64:4: [marker-ignored] +kubebuilder:validation:XValidation has no effect here: fields with the alias InnerAlias have the schema of Inner; mark the fields, or delete the = of the alias
api/v9/types.go:71:4: [marker-ignored] +kubebuilder:validation:Enum has no effect here: fields with the alias MoodAlias have the schema of Mood; mark the fields, or delete the = of the alias
api/v9/types.go:75:4: [marker-ignored] +kubebuilder:validation:Type has no effect here: fields with the alias Wait have the schema of metav1.Duration; mark the fields, or delete the = of the alias
`, "\n")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(gentest.Warnings(p), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	crd := gentest.Generated(p)["config/crd/bases/zoo.example.com_bears.yaml"]
	for text, effect := range map[string]bool{"minLength: 1": true, "scope: Cluster": false, "PrinterColumns": false, "enum:": false, "x-kubernetes-validations": false} {
		if strings.Contains(crd, text) != effect {
			t.Errorf("%q is wrong in the CRD:\n%s", text, crd)
		}
	}
}

const hooks = `
-- internal/hooks/hooks.go --
package hooks

import (
	zoov1 "example.com/zoo/api/v1"
	corev1 "k8s.io/api/core/v1"
)

func setup(ctrl builders, mgr manager) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &zoov1.Lion{}).WithDefaulter(d{}).WithValidator(v{}).WithValidatorCustomPath("/check").Complete(); err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(mgr).For(&corev1.Pod{}).WithCustomDefaulter(d{}).Complete(); err != nil {
		return err
	}
	mgr.GetWebhookServer().Register("/count-bears", b{})
	return ctrl.NewWebhookManagedBy(mgr, &zoov1.Bear{}).WithValidator(v{}).Complete()
}

// An empty comment follows.
//

MARKERS
`

func hook(arguments string) string {
	for _, def := range []string{
		"path=/validate-zoo-example-com-v1-bear", "mutating=false", "failurePolicy=fail", "sideEffects=None", "groups=zoo.example.com", "resources=bears",
		"verbs=create;update", "versions=v1", "name=x.kb.io", "admissionReviewVersions=v1",
	} {
		if key, _, _ := strings.Cut(def, "="); !strings.Contains(arguments, key+"=") {
			arguments += "," + def
		}
	}
	return "// +kubebuilder:webhook:" + strings.Trim(arguments, ",")
}

// TestWebhookMarkerWarnings lists webhook markers with arguments that API servers refuse or that match nothing.
func TestWebhookMarkerWarnings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ marker, want string }{
		"right":                {hook(""), ""},
		"right words":          {hook("failurePolicy=IGNORE,verbs=Create;*;DELETE;connect"), ""},
		"group and version":    {hook("groups=zoo.example.com/v1"), `32: [webhook-group-version] the API group "zoo.example.com/v1" contains a version and matches nothing; write groups=zoo.example.com`},
		"core and version":     {hook(`groups="";v1,resources=pods,path=/validate--v1-pod`), `35: [webhook-group-version] the API group "v1" contains a version and matches nothing; write groups=""`},
		"version as group":     {hook(`groups=v1beta1,resources=lions,path=/check`), `32: [webhook-group-version] the API group "v1beta1" contains a version and matches nothing; write groups=""`},
		"failurePolicy":        {hook("failurePolicy=Fial"), `39: [webhook-value] API servers refuse failurePolicy=Fial; write Fail or Ignore`},
		"empty failurePolicy":  {hook(`failurePolicy=""`), `38: [webhook-value] API servers refuse failurePolicy=""; write Fail or Ignore`},
		"patched":              {hook("failurePolicy=Fial,patch=`{\"failurePolicy\":\"Fail\"}`"), ``},
		"verb":                 {hook("verbs=create;craete"), `38: [webhook-value] API servers refuse verbs=craete; write create, update, delete, connect or *`},
		"reinvocationPolicy":   {hook("mutating=true,path=/mutate-zoo-example-com-v1-lion,resources=lions,reinvocationPolicy=Always"), `111: [webhook-value] controller-gen ignores reinvocationPolicy=Always; write Never or IfNeeded`},
		"of validating":        {hook("reinvocationPolicy=Never"), `44: [marker-ignored] reinvocationPolicy has no effect on a validating webhook; delete it`},
		"path":                 {hook("path=/validate-bear"), `30: [webhook-path] no webhook serves path=/validate-bear: the one for these resources in this package serves /validate-zoo-example-com-v1-bear; write that path, or add WithValidatorCustomPath("/validate-bear") to its builder`},
		"path of other group":  {hook("path=/validate-zoo-axample-com-v1-bear"), `30: [webhook-path] no webhook serves path=/validate-zoo-axample-com-v1-bear: the one for these resources in this package serves /validate-zoo-example-com-v1-bear; write that path, or add WithValidatorCustomPath("/validate-zoo-axample-com-v1-bear") to its builder`},
		"path without custom":  {hook("path=/validate-zoo-example-com-v1-lion,resources=lions"), `30: [webhook-path] no webhook serves path=/validate-zoo-example-com-v1-lion: the one for these resources in this package serves /check; write that path, or add WithValidatorCustomPath("/validate-zoo-example-com-v1-lion") to its builder`},
		"path of core":         {hook(`path=/mutate-core-v1-pod,groups=core,resources=pods,mutating=true`), `30: [webhook-path] no webhook serves path=/mutate-core-v1-pod: the one for these resources in this package serves /mutate--v1-pod; write that path, or add WithDefaulterCustomPath("/mutate-core-v1-pod") to its builder`},
		"right path of core":   {hook(`path=/mutate--v1-pod,groups=core,resources=pods,mutating=true`), ``},
		"custom path":          {hook("path=/check,resources=lions"), ``},
		"path of handler":      {hook("path=/count-bears"), ``},
		"second webhook":       {hook("path=/elsewhere") + "\n" + hook("name=y.kb.io"), ``},
		"path of old version":  {hook("path=/validate-zoo-example-com-v1alpha1-bear"), ``},
		"several groups":       {hook("path=/x,groups=a;b"), ``},
		"other kind":           {hook("path=/x,resources=pods/status"), ``},
		"no webhook of a type": {hook("path=/x,mutating=true"), ``},
	}
	var files strings.Builder
	folder := func(name string) string { return "internal/hooks/" + strings.ReplaceAll(name, " ", "_") + "/" }
	for name, tt := range cases {
		files.WriteString(strings.NewReplacer("MARKERS", tt.marker, "internal/hooks/", folder(name)).Replace(hooks))
	}
	dir := gentest.Zoo(t, files.String())
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: []string{"webhook", "paths=./internal/hooks/..."}}, p); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(gentest.Warnings(p)), "\n") {
		file, warning, _ := strings.Cut(line, "hooks.go:22:")
		got[file] += warning
	}
	for name, tt := range cases {
		if got[folder(name)] != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got[folder(name)], tt.want)
		}
	}
}

// TestWebhookErrors expects errors at the marker.
func TestWebhookErrors(t *testing.T) {
	t.Parallel()
	for wrong, want := range map[string]string{
		"patch=`{\"namespaceSelectr\":{}}`": "unable to find api field",
		"timeoutSeconds=99":                 "TimeoutSeconds must be",
		"url=\"https://x.org\"":             "mutually exclusive",
		"patch=`{\"sideEffects\":null}`":    "SideEffects is required",
		"sideEffects=Some":                  "API servers refuse sideEffects=Some; write None or NoneOnDryRun",
		"sideEffects=Nome":                  "API servers refuse sideEffects=Nome; write None or NoneOnDryRun",
		`sideEffects=""`:                    "SideEffects is required for creating v1 {Mutating,Validating}WebhookConfiguration; write sideEffects=None or NoneOnDryRun",
		"matchPolicy=Exactly":               `unknown value "Exactly" for matchPolicy; write Exact or Equivalent`,
	} {
		dir := gentest.Zoo(t, strings.Replace(hooks, "MARKERS", hook("name=a.kb.io")+"\n"+hook(wrong), 1))
		err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: []string{"webhook", "paths=./..."}}, gentest.NewPlan(t, dir))
		problems := load.Problems(nil)
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].File != "internal/hooks/hooks.go" || problems[0].Line != 23 ||
			!strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
