package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestConversionGraph checks conversion paths, including the peculiarities of the engine.
func TestConversionGraph(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ rules, from, to, want string }{
		{"a>b", "a", "b", "a>b"},
		{"a>b", "b", "a", ""},
		{"a>b b>c c>d", "a", "d", "a>b b>c c>d"},
		{"a>b b>c a>c", "a", "c", "a>c"},
		{"a>b b>a b>c", "a", "c", "a>b b>c"},
		{"v1>v2", "g/v1", "g/v2", "v1>v2"},
		{"g/v1>g/v2", "v1", "v2", "g/v1>g/v2"},
		{"g/v1>h/v2", "g/v1", "g/v2", ""},
		{"v1>v2 g/v1>v2 v1>g/v2", "g/v1", "g/v2", "v1>g/v2"},
		{"v1alpha1>v1 v1beta1>v2", "v1alpha1", "v2", "v1alpha1>v1 v1beta1>v2"}, // v1beta1 contains v1
	} {
		c := &conversionGraph{paths: map[rule][]rule{}}
		for r := range strings.FieldsSeq(tc.rules) {
			from, to, _ := strings.Cut(r, ">")
			c.add(rule{from, to})
		}
		var got []string
		for _, r := range c.find(rule{tc.from, tc.to}) {
			got = append(got, r.from+">"+r.to)
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: the path from %s to %s is %q, want %q", tc.rules, tc.from, tc.to, s, tc.want)
		}
	}
}

// TestConversionPath checks that each step names the last hook with that conversion.
func TestConversionPath(t *testing.T) {
	t.Parallel()
	const one = "configVersion: v1\nkubernetesCustomResourceConversion:\n- {name: up, crdName: %s, conversions: [{fromVersion: %s, toVersion: %s}]}"
	s := New([]Hook{hookOf(t, "a", fmt.Sprintf(one, "xs.g", "v1", "v2")), hookOf(t, "b", fmt.Sprintf(one, "xs.g", "g/v2", "v3")),
		hookOf(t, "c", fmt.Sprintf(one, "xs.g", "v1", "v2")), hookOf(t, "d", fmt.Sprintf(one, "ys.g", "v3", "v4"))})
	want := []ConversionStep{{"c", "v1", "v2"}, {"b", "g/v2", "v3"}}
	if got := s.ConversionPath("xs.g", "g/v1", "g/v3"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := s.ConversionPath("xs.g", "g/v1", "g/v4"); got != nil {
		t.Errorf("%v", got)
	}
}

// TestConvert checks that hooks run until all objects have the requested version.
func TestConvert(t *testing.T) {
	t.Parallel()
	s := New([]Hook{hookOf(t, "a", `configVersion: v1
kubernetesCustomResourceConversion:
- {name: up, crdName: xs.g, conversions: [{fromVersion: v1, toVersion: v2}, {fromVersion: v2, toVersion: v3}]}`)})
	object := func(version string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": "X"}}
	}
	convert := func(t Task) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{object("g/" + t.Contexts[0]["toVersion"].(string))}
	}
	for name, tc := range map[string]struct {
		crd, to string
		run     func(Task) ([]*unstructured.Unstructured, bool, error)
		want    string
	}{
		"step by step": {"xs.g", "g/v3", func(t Task) ([]*unstructured.Unstructured, bool, error) { return convert(t), true, nil }, "v1>v2 v2>v3 g/v3"},
		"in one step": {"xs.g", "g/v3", func(Task) ([]*unstructured.Unstructured, bool, error) {
			return []*unstructured.Unstructured{object("g/v3")}, true, nil
		}, "v1>v2 g/v3"},
		"a failure":   {"xs.g", "g/v3", func(Task) ([]*unstructured.Unstructured, bool, error) { return nil, false, errors.New("no") }, "v1>v2 Hook failed to convert to g/v3"},
		"no response": {"xs.g", "g/v3", func(Task) ([]*unstructured.Unstructured, bool, error) { return nil, false, nil }, "v1>v2 handle ConversionReview: hook task prop error"},
		"no objects":  {"xs.g", "g/v3", func(Task) ([]*unstructured.Unstructured, bool, error) { return nil, true, nil }, "v1>v2 v2>v3 Conversion xs.g to g/v3 was not successful"},
		"no path":     {"xs.g", "g/v4", nil, "Conversion xs.g to g/v4 was not successful"},
		"no CRD":      {"ys.g", "g/v3", nil, "Conversion ys.g to g/v3 was not successful"},
	} {
		var steps []string
		got, err := s.Convert(tc.crd, map[string]any{"desiredAPIVersion": tc.to}, []*unstructured.Unstructured{object("g/v1")},
			func(t Task) ([]*unstructured.Unstructured, bool, error) {
				steps = append(steps, fmt.Sprintf("%v>%v", t.Contexts[0]["fromVersion"], t.Contexts[0]["toVersion"]))
				return tc.run(t)
			})
		if err != nil {
			steps = append(steps, err.Error())
		} else {
			steps = append(steps, got[0].GetAPIVersion())
		}
		if s := strings.Join(steps, " "); s != tc.want {
			t.Errorf("%s: %q, want %q", name, s, tc.want)
		}
	}
}
