package output

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/hook/enginetest"
	"k8s.io/apimachinery/pkg/api/validate/content"
	kyaml "sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "ask the engine anew, which takes minutes to build the first time")

// verdict is what is recorded of the engine about a text: whether it refuses it,
// and else the sum of what it makes of it.
func verdict(refused bool, result any) string {
	if refused {
		return "refused"
	}
	if raw, isRaw := result.(json.RawMessage); isRaw && len(raw) == 0 || result == nil {
		return "taken"
	}
	content, err := json.Marshal(result)
	if err != nil {
		return err.Error()
	}
	var plain any
	if err := json.Unmarshal(content, &plain); err != nil {
		return err.Error()
	}
	if plain == nil {
		return "taken"
	}
	content, _ = json.Marshal(plain) // with its keys in their order
	return fmt.Sprintf("%x", sha256.Sum256(content))[:12]
}

// compare judges texts, and compares with what the engine says about them, recorded
// in testdata/<kind>.verdicts: the sum of all texts, and a line for each.
func compare(t *testing.T, kind string, texts []string, ours func(text string) string) {
	t.Helper()
	file := "testdata/" + kind + ".verdicts"
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(texts, "\x00"))))
	if *update {
		lines := []string{sum}
		for _, v := range enginetest.Ask(t, "../testdata/engine", kind, texts) {
			lines = append(lines, verdict(v.Refused != "", v.Result))
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	recorded := strings.Split(strings.TrimSpace(string(content)), "\n")
	if recorded[0] != sum || len(recorded) != len(texts)+1 {
		t.Fatalf("%s is about other texts: run go test ./internal/hook/output -run %s -update", file, t.Name())
	}
	refused, differ := 0, 0
	for i, text := range texts {
		want, got := recorded[i+1], ours(text)
		if want == "refused" {
			refused++
		}
		if got != want {
			if differ++; differ <= 10 {
				t.Errorf("the engine says %s, and we %s:\n%s", want, got, text)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, len(texts))
	}
	if share := refused * 100 / len(texts); share < 10 || share > 90 {
		t.Errorf("%d %% of the texts are refused, which shows little about the others", share)
	}
}

// TestPatchVerdicts refuses the patch files that the engine refuses, no other.
func TestPatchVerdicts(t *testing.T) {
	t.Parallel()
	compare(t, "patches", patchFiles(t), func(text string) string {
		_, findings := ParsePatches([]byte(text))
		return verdict(slices.ContainsFunc(findings, isRefusal), nil)
	})
}

// TestPatchFailures warns about operations that fail in the engine, where the API
// server agrees to anything.
func TestPatchFailures(t *testing.T) {
	t.Parallel()
	// What a filter makes of an object is for those to show that apply it.
	texts := slices.DeleteFunc(patchFiles(t), func(text string) bool {
		ops, _ := ParsePatches([]byte(text))
		return slices.ContainsFunc(ops, func(o Operation) bool { return o.Operation == "JQPatch" && compiles(o.JQFilter) == nil })
	})
	compare(t, "execute", texts, func(text string) string {
		ops, findings := ParsePatches([]byte(text))
		fails := slices.ContainsFunc(findings, isRefusal)
		for _, op := range ops {
			fails = fails || failsInEngine(op)
		}
		if fails {
			return "refused"
		}
		return verdict(false, requests(ops))
	})
}

// failsInEngine reports whether the engine fails before it asks a server.
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
		return o.Operation == "Create" || o.Operation == "CreateOrUpdate" && (!copies(o.Object) || m.GetName() == "")
	case o.Operation == "JQPatch":
		return compiles(o.JQFilter) != nil || strings.Count(o.APIVersion, "/") > 1
	case o.Patches():
		_, err := o.Body()
		return err != nil || strings.Count(o.APIVersion, "/") > 1
	}
	return strings.Count(o.APIVersion, "/") > 1
}

// TestMetricVerdicts makes of metrics what the engine makes of them.
func TestMetricVerdicts(t *testing.T) {
	t.Parallel()
	actions := map[string]int{"add": 0, "set": 2, "observe": 3, "expire": 4} // of the engine
	type operation struct {
		Name    string
		Value   *float64
		Buckets []float64
		Labels  map[string]string
		Group   string
		Action  int
	}
	compare(t, "metrics", metricFiles(t), func(text string) string {
		metrics, findings := ParseMetrics([]byte(text), "hook.sh")
		all := []operation{}
		for _, m := range metrics {
			all = append(all, operation{m.Name, m.Value, m.Buckets, m.Labels, m.Group, actions[m.Action]})
		}
		return verdict(slices.ContainsFunc(findings, isRefusal), all)
	})
}

// TestAdmissionVerdicts makes of answers what the engine makes of them.
func TestAdmissionVerdicts(t *testing.T) {
	t.Parallel()
	compare(t, "admission", answerFiles(t, admissions), func(text string) string {
		a, findings := ParseAdmission([]byte(text))
		return verdict(slices.ContainsFunc(findings, isRefusal), a)
	})
}

// TestConversionVerdicts makes of answers what the engine makes of them.
func TestConversionVerdicts(t *testing.T) {
	t.Parallel()
	compare(t, "conversion", answerFiles(t, conversions), func(text string) string {
		c, findings := ParseConversion([]byte(text))
		if c == nil {
			return verdict(slices.ContainsFunc(findings, isRefusal), nil)
		}
		return verdict(false, []any{c.FailedMessage, len(c.ConvertedObjects)})
	})
}

// made are texts made from good ones by a few random changes each, in JSON and
// where asked for in YAML. They are the same in every run.
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
		if r.IntN(12) == 0 { // a file that ends early, or has a stray character
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

// mutate changes a value below v, or takes a key away, or adds one, and returns
// what stands in the place of v.
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

// TestMade shows that texts are the same in every run.
func TestMade(t *testing.T) {
	t.Parallel()
	if !reflect.DeepEqual(patchFiles(t), patchFiles(t)) {
		t.Error("they differ")
	}
}
