package crdschema

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// tabs has two versions. The second one renames, drops and adds fields, and changes types.
const tabs = `
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          apiVersion: {type: string}
          metadata: {type: object}
          spec:
            type: object
            required: [cron]
            properties:
              cron: {type: string, pattern: '^(\S+ ){4}\S+$'}
              image: {type: string, minLength: 9, maxLength: 12}
              replicas: {type: integer, minimum: 1, default: 1}
              paused: {type: boolean, default: true}
              policy: {type: string, enum: [Allow, Forbid], default: Allow}
              since: {type: string, format: date-time}
              ratio: {type: number, maximum: 0.5}
              steps: {type: integer, multipleOf: 10}
              port: {x-kubernetes-int-or-string: true}
              odd: {type: string, pattern: '^zebra-\d{7}$'}
              labels: {type: object, additionalProperties: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              whole: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              rules:
                type: array
                minItems: 2
                items: {type: object, properties: {path: {type: string}, weight: {type: integer}}}
  - name: v2
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [schedule]
            properties:
              schedule: {type: string}
              image: {type: string, enum: [other]}
              replicas: {type: string}
              paused: {type: boolean}
              policy: {type: string}
              labels: {type: object, additionalProperties: {type: integer}}
              free: {type: object, properties: {example: {type: string}}}
              whole: {type: object, x-kubernetes-preserve-unknown-fields: true}
              rules:
                type: array
                items: {type: object, properties: {path: {type: string}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func crd(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(tabs), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSample makes a valid object with values that differ from the defaults.
func TestSample(t *testing.T) {
	t.Parallel()
	s := Of(crd(t), "v1")
	sample := s.Sample()
	want := `{"spec":{"cron":"*/5 * * * *","free":{"example":"value"},"image":"exampleex","labels":{"example":"example"},"odd":"zebra-0000000","paused":false,"policy":"Forbid","port":1,` +
		`"ratio":0.5,"replicas":2,"rules":[{"path":"example","weight":1},{"path":"example-2","weight":2}],"since":"2030-01-01T00:00:00Z","steps":10,` +
		`"whole":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"example"}}}}`
	if got := text(t, sample); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	v := validator(t, "v1")
	if errs := v.Validate(context.Background(), nil, sample); len(errs) > 0 {
		t.Error(errs)
	}
	if dropped := prune(t, v, sample); len(dropped) > 0 {
		t.Errorf("the schema drops %v", dropped)
	}
	if s := Of(crd(t), "v3"); s != nil {
		t.Errorf("a missing version has a schema: %v", s)
	}
}

func validator(t *testing.T, version string) *Validator {
	t.Helper()
	v, err := NewValidator(Of(crd(t), version))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func prune(t *testing.T, v *Validator, object map[string]any) []string {
	t.Helper()
	dropped, err := v.Prune(object)
	if err != nil {
		t.Fatal(err)
	}
	return dropped
}

// TestPrune returns the paths of dropped fields.
func TestPrune(t *testing.T) {
	t.Parallel()
	o := Of(crd(t), "v1").Sample()
	v := validator(t, "v2")
	dropped := prune(t, v, o)
	want := "spec.cron spec.odd spec.port spec.ratio spec.rules[0].weight spec.rules[1].weight spec.since spec.steps"
	if got := strings.Join(dropped, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again := prune(t, v, o); len(again) > 0 {
		t.Errorf("a second call drops %v", again)
	}
}

// TestFit keeps the values that both versions allow.
func TestFit(t *testing.T) {
	t.Parallel()
	s := Of(crd(t), "v2")
	got := s.Fit(Of(crd(t), "v1").Sample())
	want := `{"spec":{"free":{"example":"value"},"labels":{},"paused":false,"policy":"Forbid","rules":[{"path":"example"},{"path":"example-2"}],` +
		`"whole":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"example"}}}}`
	if text(t, got) != want {
		t.Errorf("got  %s\nwant %s", text(t, got), want)
	}
	if dropped := prune(t, validator(t, "v2"), got); len(dropped) > 0 {
		t.Errorf("the schema drops %v", dropped)
	}
}

// TestDifferences lists the fields that a conversion cannot copy.
func TestDifferences(t *testing.T) {
	t.Parallel()
	var got []string
	for _, d := range Differences(Of(crd(t), "v1"), Of(crd(t), "v2")) {
		got = append(got, fmt.Sprintf("%s %q %q %t", d.Path, d.From, d.To, d.Required))
	}
	want := []string{
		`spec.cron "string" "" false`, `spec.labels[*] "string" "integer" false`, `spec.odd "string" "" false`, `spec.port "integer or string" "" false`,
		`spec.ratio "number" "" false`, `spec.replicas "integer" "string" false`, `spec.rules[].weight "integer" "" false`,
		`spec.schedule "" "string" true`, `spec.since "string" "" false`, `spec.steps "integer" "" false`, `status "" "object" false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if same := Differences(Of(crd(t), "v1"), Of(crd(t), "v1")); len(same) > 0 {
		t.Errorf("a schema differs from itself: %v", same)
	}
}
