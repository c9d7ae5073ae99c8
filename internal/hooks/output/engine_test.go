package output

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/enginetest"
	"k8s.io/apimachinery/pkg/api/validate/content"
	kyaml "sigs.k8s.io/yaml"
)

const engine = "../testdata/engine"

// TestPatchVerdicts rejects exactly the patch files that the engine rejects.
func TestPatchVerdicts(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, engine, "patches", patchFiles(t), func(text string) string {
		_, findings := ParsePatches([]byte(text))
		return enginetest.Verdict(slices.ContainsFunc(findings, isRefusal), nil)
	})
}

// TestPatchFailures warns about operations that fail in the engine even though the API
// server accepts everything.
func TestPatchFailures(t *testing.T) {
	t.Parallel()
	// The result of a filter is tested in package patch.
	texts := slices.DeleteFunc(patchFiles(t), func(text string) bool {
		ops, _ := ParsePatches([]byte(text))
		return slices.ContainsFunc(ops, func(o Operation) bool { return o.Operation == "JQPatch" && compiles(o.JQFilter) == nil })
	})
	enginetest.Compare(t, engine, "execute", texts, func(text string) string {
		ops, findings := ParsePatches([]byte(text))
		fails := slices.ContainsFunc(findings, isRefusal)
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
		return compiles(o.JQFilter) != nil || strings.Count(o.APIVersion, "/") > 1
	case o.Patches():
		_, err := o.Body()
		return err != nil || strings.Count(o.APIVersion, "/") > 1
	}
	return strings.Count(o.APIVersion, "/") > 1
}

// TestMetricVerdicts parses metrics like the engine.
func TestMetricVerdicts(t *testing.T) {
	t.Parallel()
	actions := map[string]int{"add": 0, "set": 2, "observe": 3, "expire": 4} // in the engine
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
		return enginetest.Verdict(slices.ContainsFunc(findings, isRefusal), all)
	})
}

// TestAdmissionVerdicts parses admission responses like the engine.
func TestAdmissionVerdicts(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, engine, "admission", answerFiles(t, admissions), func(text string) string {
		a, findings := ParseAdmission([]byte(text))
		return enginetest.Verdict(slices.ContainsFunc(findings, isRefusal), a)
	})
}

// TestConversionVerdicts parses conversion responses like the engine.
func TestConversionVerdicts(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, engine, "conversion", answerFiles(t, conversions), func(text string) string {
		c, findings := ParseConversion([]byte(text))
		if c == nil {
			return enginetest.Verdict(slices.ContainsFunc(findings, isRefusal), nil)
		}
		return enginetest.Verdict(false, []any{c.FailedMessage, len(c.ConvertedObjects)})
	})
}

// made returns valid texts with a few random changes each, in JSON and, if asked for, in
// YAML. They are the same in every run.
func made(t *testing.T, good []string, n int, alsoYAML bool) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var texts []string
	for range n {
		var docs []string
		yaml := alsoYAML && r.IntN(2) == 0
		for range 1 + r.IntN(3)/2 {
			var v map[string]any
			if err := json.Unmarshal([]byte(good[r.IntN(len(good))]), &v); err != nil {
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

// TestMade checks that the texts are the same in every run.
func TestMade(t *testing.T) {
	t.Parallel()
	if !reflect.DeepEqual(patchFiles(t), patchFiles(t)) {
		t.Error("they differ")
	}
}
