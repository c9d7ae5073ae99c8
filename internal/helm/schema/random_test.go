package schema_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/schema"
	kyaml "sigs.k8s.io/yaml"
)

// TestRandomValues makes schemas of random values, which they accept without losing a field.
func TestRandomValues(t *testing.T) {
	t.Parallel()
	for seed := range int64(200) {
		values := randomObject(rand.New(rand.NewSource(seed)), 4)
		content, err := kyaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		acceptsItself(t, schema.Chart{Values: content})
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, content)
		}
	}
}

// acceptsItself fails the test unless the schema of a chart accepts the chart's values.
func acceptsItself(t *testing.T, c schema.Chart) {
	r, err := schema.Of(c)
	if err != nil {
		t.Error(err)
		return
	}
	accepted(t, r.Schema)
	if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "values-misfit" }) {
		t.Errorf("%+v", r.Findings)
	}
	validator, err := crdschema.NewValidator(crdschema.Schema{"type": "object", "properties": map[string]any{"spec": map[string]any(r.Schema)}})
	if err != nil {
		t.Error(err)
		return
	}
	var sample map[string]any
	indented := "spec:\n  " + strings.ReplaceAll(strings.TrimSpace(string(r.Sample)), "\n", "\n  ")
	if err := kyaml.Unmarshal([]byte(indented), &sample); err != nil {
		t.Errorf("%v\n%s", err, indented)
		return
	}
	unknown, err := validator.Prune(sample)
	if problems := validator.Validate(context.Background(), nil, sample); err != nil || len(unknown)+len(problems) > 0 {
		t.Errorf("%v %v %v", err, unknown, problems)
	}
}

var keys = []string{"a", "labels", "podAnnotations", "resources", "limits", "affinity", "tolerations", "env", "extraVolumes", "nodePort", "tag", "cpu", "size", "nodeSelector", "a.b", "", "1", "spec", "metadata"}

func randomObject(r *rand.Rand, depth int) map[string]any {
	object := map[string]any{}
	for range r.Intn(5) {
		object[keys[r.Intn(len(keys))]] = randomValue(r, depth-1)
	}
	return object
}

func randomValue(r *rand.Rand, depth int) any {
	scalars := []any{nil, true, 0, 3, -1, 2.5, 1e20, "", "x", "10Gi", "0.5", "2030-01-01", "a: b\n\n  c\n", "# no comment", "null"}
	n := r.Intn(4)
	switch {
	case depth <= 0 || n < 2:
		return scalars[r.Intn(len(scalars))]
	case n == 2:
		return randomObject(r, depth)
	}
	list := []any{}
	for range r.Intn(3) {
		list = append(list, randomValue(r, depth-1))
	}
	return list
}

// FuzzOf looks for input on which the package panics or makes a schema that is invalid.
func FuzzOf(f *testing.F) {
	for i, s := range []string{`{"type": "object"}`, `{"anyOf": [{"$ref": "#"}, true], "properties": {"a": {"enum": [null]}}}`, `{"patternProperties": {"a": {}}, "items": [{}]}`,
		`{"type": "object", "allOf": [{"$ref": "#"}, {"if": {"$ref": "#/allOf/1"}, "then": {"type": ["null", "array"]}}]}`,
		`{"properties": {"a": {"oneOf": [{"type": "object", "additionalProperties": {"$ref": "#/properties/b"}}, {"const": 1}]}, "b": {"enum": [1, "a", null], "pattern": "["}}}`} {
		f.Add(fmt.Appendf(nil, "a: &x [%d]\n# -- (int) b\nb: *x\n", i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, values, content []byte) {
		for _, c := range []schema.Chart{{Values: values}, {Values: values, Schema: content}} {
			r, err := schema.Of(c)
			if err == nil {
				accepted(t, r.Schema)
			} else if strings.Contains(err.Error(), "not valid") {
				t.Error(err)
			}
		}
	})
}
