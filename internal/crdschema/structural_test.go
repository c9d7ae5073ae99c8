package crdschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// tabs has two versions, of which the second renames, drops, adds, and changes types.
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

// TestSample makes an object that its schema takes, with values other than the
// defaults.
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
	if errs := s.Validate(sample); len(errs) > 0 {
		t.Error(errs)
	}
	if dropped := s.Prune(sample); len(dropped) > 0 {
		t.Errorf("the schema drops %v", dropped)
	}
	if v := Of(crd(t), "v3"); v != nil {
		t.Errorf("a version that there is not has a schema: %v", v)
	}
}

// TestPrune names what goes.
func TestPrune(t *testing.T) {
	t.Parallel()
	o := Of(crd(t), "v1").Sample()
	dropped := Of(crd(t), "v2").Prune(o)
	want := "spec.cron spec.odd spec.port spec.ratio spec.rules[0].weight spec.rules[1].weight spec.since spec.steps"
	if got := strings.Join(dropped, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again := Of(crd(t), "v2").Prune(o); len(again) > 0 {
		t.Errorf("what is pruned has %v to drop", again)
	}
}

// TestFit keeps what both have room for, and that is what can be expected of a
// conversion which nobody has written yet.
func TestFit(t *testing.T) {
	t.Parallel()
	s := Of(crd(t), "v2")
	got := s.Fit(Of(crd(t), "v1").Sample())
	want := `{"spec":{"free":{"example":"value"},"labels":{},"paused":false,"policy":"Forbid","rules":[{"path":"example"},{"path":"example-2"}],` +
		`"whole":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"example"}}}}`
	if text(t, got) != want {
		t.Errorf("got  %s\nwant %s", text(t, got), want)
	}
	if dropped := s.Prune(got); len(dropped) > 0 {
		t.Errorf("the schema drops %v", dropped)
	}
}

// TestDifferences lists what a conversion has to do something about.
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
