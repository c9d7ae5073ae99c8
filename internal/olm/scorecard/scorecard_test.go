package scorecard

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

const crdV1 = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: frigates.example.org}
spec:
  names: {kind: Frigate}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec: {properties: {guns: {type: integer}, crew: {type: integer}}}
          status: {properties: {sails: {type: string}}}
`

// openCRD is how operators based on Helm and Ansible describe their kinds.
const openCRD = `kind: CustomResourceDefinition
metadata: {name: frigates.example.org}
spec:
  names: {kind: Frigate}
  versions:
  - {name: v1, schema: {openAPIV3Schema: {properties: {spec: {x-kubernetes-preserve-unknown-fields: true}}}}}
`

const crdV1beta1 = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: frigates.example.org}
spec:
  names: {kind: Frigate}
  version: v1
  validation:
    openAPIV3Schema:
      properties:
        spec: {properties: {guns: {type: integer}}}
`

const complete = `{name: frigates.example.org, kind: Frigate, version: v1, resources: [{kind: Pod, version: v1}],
  specDescriptors: [{path: guns}, {path: crew}], statusDescriptors: [{path: sails}]}`

const bare = `{name: frigates.example.org, kind: Frigate, version: v1}`

// newBuiltin returns the tests of a bundle with an owned kind, examples and a CRD.
func newBuiltin(t *testing.T, owned, examples, crd string) Builtin {
	t.Helper()
	metadata := map[string]any{"name": "fleet.v1.0.0", "annotations": map[string]any{"alm-examples": examples}}
	csv, err := yaml.Marshal(map[string]any{"kind": "ClusterServiceVersion", "metadata": metadata})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(map[string][]byte{
		"metadata/annotations.yaml": []byte("annotations: {operators.operatorframework.io.bundle.package.v1: fleet}\n"),
		"manifests/csv.yaml":        append(csv, "spec: {customresourcedefinitions: {owned: ["+owned+"]}}\n"...),
		"manifests/crd.yaml":        []byte(crd),
	})
	if err != nil {
		t.Fatal(err)
	}
	return Builtin{Bundle: b, Validate: func() (errors, warnings []string) { return nil, []string{"no icon"} }}
}

func configured(name string) v1alpha3.TestConfiguration {
	return v1alpha3.TestConfiguration{Image: "quay.io/operator-framework/scorecard-test:v1.42.3", Entrypoint: []string{"scorecard-test", name}}
}

// TestBuiltin compares verdicts with the verdicts of operator-sdk's tests for the same input.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	const (
		full    = `[{"kind":"Frigate","apiVersion":"example.org/v1","metadata":{"name":"f"},"spec":{"guns":1,"crew":2},"status":{"sails":"set"}}]`
		desired = `[{"kind":"Frigate","apiVersion":"example.org/v1","metadata":{"name":"f"},"spec":{"guns":1}}]`
		empty   = `[{"kind":"Frigate","apiVersion":"example.org/v1","metadata":{"name":"f"}}]`
		other   = `[{"kind":"Sloop","apiVersion":"example.org/v1","metadata":{"name":"s"},"spec":{"guns":1}}]`
		text    = `[{"kind":"Frigate","apiVersion":"example.org/v1","metadata":{"name":"f"},"spec":"guns"}]`
		broken  = `[{"spec":{}}]`
	)
	const pass, fail, errs = v1alpha3.PassState, v1alpha3.FailState, v1alpha3.ErrorState
	for _, tc := range []struct {
		test, owned, examples, crd string
		state                      v1alpha3.State
		want                       string // an error or a suggestion
	}{
		{"basic-check-spec", complete, full, crdV1, pass, ""},
		{"basic-check-spec", complete, "", crdV1, pass, ""},
		{"basic-check-spec", complete, empty, crdV1, pass, "the example Frigate/f has no spec"},
		{"basic-check-spec", complete, broken, crdV1, fail, "the annotation alm-examples is not a list of objects: "},

		{"olm-bundle-validation", complete, full, crdV1, pass, "no icon"},

		{"olm-crds-have-validation", complete, full, crdV1, pass, ""},
		{"olm-crds-have-validation", complete, desired, crdV1beta1, pass, ""},
		{"olm-crds-have-validation", complete, full, crdV1beta1, fail, "add spec.crew to the schema of Frigate/v1"},
		{"olm-crds-have-validation", complete, full, strings.ReplaceAll(crdV1, "guns", "cannons"), fail, "add spec.guns to the schema of Frigate/v1"},
		{"olm-crds-have-validation", complete, full, strings.Split(crdV1, "    schema:")[0], pass, "add a schema for Frigate/v1"},
		{"olm-crds-have-validation", complete, desired, openCRD, fail, "add spec.guns to the schema of Frigate/v1"},
		{"olm-crds-have-validation", complete, other, crdV1, pass, ""},
		{"olm-crds-have-validation", complete, text, crdV1, fail, "the spec of the example Frigate/f is not an object"},
		{"olm-crds-have-validation", complete, broken, crdV1, errs, "the annotation alm-examples is not a list of objects: "},
		{"olm-crds-have-validation", complete, full, "kind: CustomResourceDefinition\nspec: [a]\n", errs, "manifests/crd.yaml: json: "},

		{"olm-crds-have-resources", complete, full, crdV1, pass, ""},
		{"olm-crds-have-resources", bare, full, crdV1, fail, "frigates.example.org/v1: resources is empty"},
		{"olm-crds-have-resources", "a", full, crdV1, errs, "manifests/csv.yaml: spec.customresourcedefinitions: "},

		{"olm-spec-descriptors", complete, full, crdV1, pass, ""},
		{"olm-spec-descriptors", complete, "", crdV1, pass, ""},
		{"olm-spec-descriptors", bare, full, crdV1, fail, "frigates.example.org/v1: spec.crew has no descriptor"},
		{"olm-spec-descriptors", complete, empty, crdV1, fail, "the example Frigate/f has no spec"},
		{"olm-spec-descriptors", complete, other, crdV1, fail, "the ClusterServiceVersion does not own the kind of the example Sloop/s"},
		{"olm-spec-descriptors", complete, broken, crdV1, errs, "the annotation alm-examples is not a list of objects: "},

		{"olm-status-descriptors", complete, full, crdV1, pass, ""},
		{"olm-status-descriptors", bare, full, crdV1, fail, "frigates.example.org/v1: the status has no descriptors"},
		{"olm-status-descriptors", bare, desired, crdV1, pass, "the example Frigate/f has no status, "},
		{"olm-status-descriptors", complete, other, crdV1, fail, "the ClusterServiceVersion does not own the kind of the example Sloop/s"},

		{"olm-something", complete, full, crdV1, fail, `the image has no test "olm-something"; its tests are: olm-bundle-validation, `},
	} {
		status := newBuiltin(t, tc.owned, tc.examples, tc.crd).Run(context.Background(), configured(tc.test))
		result := status.Results[0]
		messages := strings.Join(append(result.Errors, result.Suggestions...), "\n")
		if len(status.Results) != 1 || result.Name != tc.test || result.State != tc.state || !strings.HasPrefix(messages, tc.want) || tc.want == "" && messages != "" {
			t.Errorf("%s of %s with the owned kind %s and the CRD\n%s: got %+v, want %s and %q", tc.test, tc.examples, tc.owned, tc.crd, result, tc.state, tc.want)
		}
	}
}

// TestResourcesPlace names places that a project of the layout has.
func TestResourcesPlace(t *testing.T) {
	t.Parallel()
	for layout, goType := range map[string]bool{"": true, "go.kubebuilder.io/v4": true, "shell.operon.dev/v1": false, "addon.operon.dev/v1": false} {
		b := newBuiltin(t, bare, "", crdV1)
		b.Bundle.CSV.Object["metadata"] = map[string]any{"annotations": map[string]any{"operators.operatorframework.io/project_layout": layout}}
		result := b.Run(context.Background(), configured("olm-crds-have-resources")).Results[0]
		if text := strings.Join(result.Suggestions, "\n"); strings.Contains(text, "Go type") != goType || !strings.Contains(text, "base in config/manifests/bases") {
			t.Errorf("layout %q: %s", layout, text)
		}
	}
}

func TestIsBuiltin(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]bool{
		"quay.io/operator-framework/scorecard-test:v1.42.3":        true,
		"registry.example.org:5000/mirror/scorecard-test@sha256:0": true,
		"scorecard-test": true,
		"quay.io/operator-framework/scorecard-test-kuttl:v2": false,
		"registry.example.org:5000/custom-scorecard-tests":   false,
	} {
		test := configured("basic-check-spec")
		test.Image = image
		if IsBuiltin(test) != want {
			t.Errorf("%s: got %t", image, !want)
		}
	}
	custom := configured("")
	custom.Entrypoint = []string{"own-program"}
	if IsBuiltin(custom) {
		t.Error("another program in the image is taken for a built-in test")
	}
}

const configuration = `apiVersion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
metadata: {name: config}
storage: {spec: {mountPath: {path: /common}}}
stages:
- parallel: true
  tests:
  - {image: example.org/one, labels: {suite: a}}
  - {image: example.org/two, labels: {suite: b}, storage: {spec: {mountPath: {path: /own}}}}
- tests:
  - {image: example.org/three, labels: {suite: a}}
- tests:
  - {image: example.org/four, labels: {suite: b}}
`

// runner runs tests that pass.
type runner struct{}

func (runner) Run(_ context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus {
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{{Name: test.Image, State: v1alpha3.PassState, Log: test.Storage.Spec.MountPath.Path}}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	config, err := ReadConfiguration("config.yaml", []byte(configuration))
	if err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string][]string{
		"":            {"example.org/one /common", "example.org/two /own", "example.org/three /common", "example.org/four /common"},
		"suite=a":     {"example.org/one /common", "example.org/three /common"},
		"suite in ()": nil,
		"suite!=a":    {"example.org/two /own", "example.org/four /common"},
		"none=such":   nil,
	} {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, test := range Run(context.Background(), Select(config, parsed), nil, runner{}).Items {
			have = append(have, test.Status.Results[0].Name+" "+test.Status.Results[0].Log)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%q: -want +got\n%s", selector, diff)
		}
	}
	for _, src := range []string{"kind: ConfigMap\n", "stages: {\n", "stages: a\n", "stages: [{tests: [{entrypoint: [a]}]}]\n"} {
		if _, err := ReadConfiguration("config.yaml", []byte(src)); err == nil {
			t.Errorf("%q is accepted", src)
		}
	}
}

// TestFormats compares the text with the library's, whose order of labels is random,
// and checks that messages are escaped in XML.
func TestFormats(t *testing.T) {
	t.Parallel()
	list := v1alpha3.NewTestList()
	for _, state := range []v1alpha3.State{v1alpha3.PassState, v1alpha3.FailState, v1alpha3.ErrorState} {
		test := v1alpha3.NewTest()
		test.Spec = configured("basic-check-spec")
		test.Spec.Labels = map[string]string{"test": string(state)}
		test.Status.Results = []v1alpha3.TestResult{{Name: "x", State: state, Log: "one\ntwo\n", Errors: []string{"a < b & c", "d"}, Suggestions: []string{"e"}}}
		list.Items = append(list.Items, test)
	}
	list.Items[0].Status.Results[0].Errors = nil
	list.Items[0].Spec.Labels = nil
	var want strings.Builder
	for _, test := range list.Items {
		want.WriteString(test.MarshalText() + "\n")
	}
	if diff := cmp.Diff(want.String(), Text(list)); diff != "" {
		t.Errorf("text: -library +got\n%s", diff)
	}
	text, err := JSON(list)
	if err != nil {
		t.Fatal(err)
	}
	var again v1alpha3.TestList
	if err := json.Unmarshal([]byte(text), &again); err != nil || cmp.Diff(list, again) != "" {
		t.Errorf("JSON: %v\n%s", err, cmp.Diff(list, again))
	}
	if text, err = XUnit(list); err != nil {
		t.Fatal(err)
	}
	var report testSuites
	if err := xml.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	first, second, third := report.Suites[0], report.Suites[1], report.Suites[2]
	if first.Name != "testsuite-001" || second.Failures != 1 || second.Cases[0].Failure.Message != "a < b & c\nd" || third.Errors != 1 || third.Cases[0].Error == nil {
		t.Errorf("XML:\n%s", text)
	}
	if tests, failed := Counts(list); tests != 3 || failed != 2 {
		t.Errorf("got %d of %d tests failed", failed, tests)
	}
}
