package output

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/testkit/enginetest"
	"k8s.io/apimachinery/pkg/api/validate/content"
	kyaml "sigs.k8s.io/yaml"
)

const engine = "../testdata/engine"

// TestPatchVerdicts checks that exactly the patch files that the engine rejects have errors.
func TestPatchVerdicts(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, engine, "patches", patchFiles(t), func(text string) string {
		_, findings := ParsePatches([]byte(text))
		return enginetest.Verdict(finding.HasErrors(findings), nil)
	})
}

// TestPatchFailures checks that exactly the operations that fail in the engine have warnings,
// if the API server accepts all requests.
func TestPatchFailures(t *testing.T) {
	t.Parallel()
	// Package patch tests the results of filters.
	texts := slices.DeleteFunc(patchFiles(t), func(text string) bool {
		ops, _ := ParsePatches([]byte(text))
		return slices.ContainsFunc(ops, func(o Operation) bool { return o.Operation == "JQPatch" && compileJQ(o.JQFilter) == nil })
	})
	enginetest.Compare(t, engine, "execute", texts, func(text string) string {
		ops, findings := ParsePatches([]byte(text))
		fails := finding.HasErrors(findings)
		for _, op := range ops {
			fails = fails || failsInEngine(op)
		}
		if fails {
			return "rejected"
		}
		return enginetest.Verdict(false, requests(ops))
	})
}

// failsInEngine reports whether the engine fails before it sends a request.
func failsInEngine(o Operation) bool {
	if !o.Creates() && (len(content.IsPathSegmentName(o.Name)) > 0 || len(content.IsPathSegmentName(o.Namespace)) > 0) {
		return true
	}
	switch {
	case o.Creates():
		m, err := o.Manifest()
		if err != nil || strings.Count(m.GetAPIVersion(), "/") > 1 || m.GetKind() == "" {
			return true
		}
		return o.Operation == "Create" || o.Operation == "CreateOrUpdate" && (!canDeepCopy(o.Object) || m.GetName() == "")
	case o.Operation == "JQPatch":
		return compileJQ(o.JQFilter) != nil || strings.Count(o.APIVersion, "/") > 1
	case o.isPatch():
		_, err := o.Body()
		return err != nil || strings.Count(o.APIVersion, "/") > 1
	}
	return strings.Count(o.APIVersion, "/") > 1
}

// TestMetricVerdicts compares parsed metrics with the engine's.
func TestMetricVerdicts(t *testing.T) {
	t.Parallel()
	actions := map[string]int{"add": 0, "set": 2, "observe": 3, "expire": 4} // the values of the engine
	type operation struct {
		Name    string
		Value   *float64
		Buckets []float64
		Labels  map[string]string
		Group   string
		Action  int
	}
	enginetest.Compare(t, engine, "metrics", metricFiles(t), func(text string) string {
		metrics, findings := ParseMetrics([]byte(text), "hook.sh")
		all := []operation{}
		for _, m := range metrics {
			all = append(all, operation{m.Name, m.Value, m.Buckets, m.Labels, m.Group, actions[m.Action]})
		}
		return enginetest.Verdict(finding.HasErrors(findings), all)
	})
}

// TestAdmissionVerdicts compares parsed admission responses with the engine's.
func TestAdmissionVerdicts(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, engine, "admission", responseFiles(t, admissions), func(text string) string {
		a, findings := ParseAdmission([]byte(text))
		return enginetest.Verdict(finding.HasErrors(findings), a)
	})
}

// TestConversionVerdicts compares parsed conversion responses with the engine's.
func TestConversionVerdicts(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, engine, "conversion", responseFiles(t, conversions), func(text string) string {
		c, findings := ParseConversion([]byte(text))
		if c == nil {
			return enginetest.Verdict(finding.HasErrors(findings), nil)
		}
		return enginetest.Verdict(false, []any{c.FailedMessage, len(c.ConvertedObjects)})
	})
}

// generate returns n variations of valid texts, the same in every run. Each has a few random
// changes. If alsoYAML is set, some of them are YAML.
func generate(t *testing.T, valid []string, n int, alsoYAML bool) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var texts []string
	for range n {
		var docs []string
		yaml := alsoYAML && r.IntN(2) == 0
		for range 1 + r.IntN(3)/2 {
			var v map[string]any
			if err := json.Unmarshal([]byte(valid[r.IntN(len(valid))]), &v); err != nil {
				t.Fatal(err)
			}
			for range r.IntN(3) {
				mutate(r, v)
			}
			text, err := json.Marshal(v)
			if yaml {
				text, err = kyaml.Marshal(v)
			}
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, string(text))
		}
		separator := []string{"\n", "", "\n\n", " "}[r.IntN(4)]
		if yaml {
			separator = "---\n"
		}
		text := strings.Join(docs, separator)
		if r.IntN(12) == 0 { // a truncated file, or one with a stray character
			at := r.IntN(len(text) + 1)
			text = text[:at] + []string{"", "}", ",", "\t", "'", "#", "\x01"}[r.IntN(7)] + text[at:][min(r.IntN(2), len(text)-at):]
		}
		texts = append(texts, text)
	}
	return texts
}

var values = []any{nil, true, false, "", "x", "v1", "a/b/c", "apps/v1", "Pod", 0.0, 1.0, -1.5, 1e300, "remove", "add", "/status", "status", "Create", "Delete", "JSONPatch", "jqpatch",
	".a |", ".x = 1", "nope", "{}", "[]", "a: b", "a: b: c", "[{\"op\": \"remove\", \"path\": \"/x\"}]", "set", "observe", "expire", "W10=", "not base64!", "2020-01-01",
	[]any{}, map[string]any{}, []any{"x"}, []any{1.0}, []any{map[string]any{"op": "add", "path": "/x", "value": nil}}, map[string]any{"x": "y"}, map[string]any{"x": 1.0}, []any{nil}}

var keys = []string{"name", "Name", "KIND", "nameSpace", "operation", "value", "group", "labels", "message", "object", "set", "add", "patch", "jsonPatch"}

// mutate changes a value below v, or removes or adds a key, and returns the result.
func mutate(r *rand.Rand, v any) any {
	pick := func() any {
		var copied any
		content, _ := json.Marshal(values[r.IntN(len(values))])
		_ = json.Unmarshal(content, &copied)
		return copied
	}
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 || r.IntN(8) == 0 {
			x[keys[r.IntN(len(keys))]] = pick()
			return x
		}
		sorted := slices.Sorted(maps.Keys(x))
		k := sorted[r.IntN(len(sorted))]
		if r.IntN(6) == 0 {
			delete(x, k)
		} else {
			x[k] = mutate(r, x[k])
		}
		return x
	case []any:
		if len(x) > 0 && r.IntN(4) > 0 {
			i := r.IntN(len(x))
			x[i] = mutate(r, x[i])
			return x
		}
	}
	return pick()
}

// TestGenerate checks that the texts are the same in every run.
func TestGenerate(t *testing.T) {
	t.Parallel()
	if !reflect.DeepEqual(patchFiles(t), patchFiles(t)) {
		t.Error("the generated texts differ")
	}
}
