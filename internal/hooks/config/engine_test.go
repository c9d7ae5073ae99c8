package config

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/enginetest"
)

// TestEngine validates thousands of random variations of a configuration that uses all
// fields. Parse must reject exactly the configurations that the engine rejects.
func TestEngine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		owner     Owner
		dir, kind string
		texts     []string
	}{
		{Shell, "../testdata/engine", "config", configurations(t)},
		{Global, "../testdata/addon", "config-global", stepConfigurations(t, Global)},
		{Module, "../testdata/addon", "config-module", stepConfigurations(t, Module)},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			enginetest.Compare(t, tc.dir, tc.kind, tc.texts, func(text string) string {
				c, _ := tc.owner.Parse([]byte(text))
				return enginetest.Verdict(c == nil, nil)
			})
		})
	}
}

// stepConfigurations returns configurations of addon-operator hooks, the same in every run.
func stepConfigurations(t *testing.T, owner Owner) []string {
	t.Helper()
	first := owner.Steps()[0]
	texts := []string{
		first + ": 1", "configVersion: v1\n" + first + ": 1", "configVersion: v1\n" + first + ": -1", "configVersion: v1\n" + first + ": 1.5",
		"configVersion: v1\n" + first + ": 1.0", "configVersion: v1\n" + first + ": 010", "configVersion: v1\n" + first + ": 0x10", "configVersion: v1\n" + first + ": 1e3",
		"configVersion: v1\n" + first + ": 99999999999999999999", "configVersion: v1\n" + first + ": '1'", "configVersion: v1\n" + first + ":", "configVersion: v1\n" + first + ": ~\nonStartup: 1",
		"configVersion: v1\n" + first + ": true", "configVersion: v1\n" + first + ": 1\n" + first + ": 2", "configVersion: v1\nonStartup: 1\nonStartup: 2",
		"configVersion: v1\nschedule:\n- {crontab: '* * * * *', crontab: '* * * * *'}", "configVersion: v1\nbeforeAll: 1", "configVersion: v1\nafterDeleteHelm: 1", "configVersion: v1\nbeforeDeleteHelm: 0",
		"configVersion: v1\nonstartup: 1", "configVersion: v2\n" + first + ": 1", "configVersion: v1\n" + first + ": &a 1\nonStartup: *a", "<<: {configVersion: v1}\n" + first + ": 1",
		first + ": -1", "configVersion: v1\n" + first + ": 1\n---\nx: y", "configVersion: v1\n\t" + first + ": 1", "configVersion: v1\n" + first + ": 1_000", "configVersion: v1\n" + first + ": 0o17",
	}
	numbers := []any{0.0, 1.0, 10.0, -1.0, 1.5, 1e10, 1e19, 1e30, 0.0, nil, "1", true, []any{}, map[string]any{}}
	r := rand.New(rand.NewPCG(3, uint64(owner)))
	for range 1500 {
		v := map[string]any{"configVersion": "v1", "kubernetes": []any{map[string]any{"kind": "Pod", "name": "pods"}}, "schedule": []any{map[string]any{"crontab": "* * * * *"}}}
		for _, o := range []Owner{Global, Module} {
			for _, step := range o.Steps() {
				if n := r.IntN(8); o == owner && n < 5 || n == 7 && r.IntN(4) == 0 {
					v[step] = numbers[min(r.IntN(3*len(numbers)), r.IntN(len(numbers)))]
				}
			}
		}
		if r.IntN(3) == 0 {
			mutate(r, v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// configurations returns random configurations, the same in every run.
func configurations(t *testing.T) []string {
	t.Helper()
	everything, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	src, f, ok := parseSource(everything)
	if !ok {
		t.Fatal(f)
	}
	full, err := json.Marshal(src.values)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		string(everything), "", "x", "[]", "{}", "a: b: c", "\tx: y", "configVersion: v2", "configVersion:", "configVersion: 1", "configVersion: [v1]",
		"onStartup: 1", "onStartup: 1\nconfigVersion: v1", "onStartup: yes\nconfigVersion: v1", "onStartup: 010\nconfigVersion: v1",
		"schedule: []", "schedule:\n- crontab: x", "schedule:\n- crontab: '* * * * *'", "onKubernetesEvent:\n- event: [added]", "onKubernetesEvent:\n- event: [add]\n  jqFilter: '.['",
		"configVersion: v1\nonStartup: 1\n---\nmore: 1", "configVersion: v1\nonStartup: 1\nonStartup: 2", "configVersion: v1\nschedule:\n- crontab: '* * * * *'\n  name: yes",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var v map[string]any
		if err := json.Unmarshal(full, &v); err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(2) {
			mutate(r, v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// values are the replacement values of mutations. They do not include crontabs with a step
// of 0, because the engine does not return from parsing them.
var values = []any{
	nil, true, false, "", "*", "x", "v1", "v2", "false", "10", 0.0, -1.0, 1.5, 31.0, 1e10, "Added", "In", "NotIn", "Exists", "pods", "nodes", "kubernetes",
	"1h", "banana", "*/5 * * * *", "* * * * * *", "@every 30s", "@hourly", "@reboot", "TZ=Europe/Moscow 0 0 * * *", "TZ=Nowhere/x * * * * *", "TZ=UTC",
	"CRON_TZ=UTC * * * * *", "60 * * * *", "1-5/2 * * * *", "5-1 * * * *", "* * * jan mon", "* * * * 7", ",", "a b c d e", "@every x",
	"1,2 * * * *", "* * *", "? ? ? ? ?", "*/100 * * * *", ".a |", ".a | nope", ".metadata.name", ". as $x | $y", "a/b/c", "/", "apps/v1", "a b",
	"metadata.name", "==", "a.b.c", "A.b.c", "a.b", "x..y.z", "*/*", "pods/*", "*/status", "pods/status", "CREATE", "Cluster",
	[]any{}, map[string]any{}, []any{"x"}, []any{""}, []any{"*", "x"}, []any{nil}, map[string]any{"x": "y"}, map[string]any{"bad key!": "y"}, map[string]any{"x": "bad value!"},
}

var keys = []string{"name", "group", "kind", "nope", "queue", "matchLabels", "values"}

// mutate changes, removes or adds a value below v, and returns the replacement of v.
func mutate(r *rand.Rand, v any) any {
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 || r.IntN(12) == 0 {
			x[keys[r.IntN(len(keys))]] = pick(r)
			return x
		}
		sorted := slices.Sorted(maps.Keys(x))
		k := sorted[r.IntN(len(sorted))]
		if r.IntN(10) == 0 {
			delete(x, k)
		} else {
			x[k] = mutate(r, x[k])
		}
		return x
	case []any:
		switch {
		case len(x) > 0 && r.IntN(6) > 0:
			i := r.IntN(len(x))
			x[i] = mutate(r, x[i])
			return x
		case len(x) > 0 && r.IntN(2) == 0:
			return append(x, x[r.IntN(len(x))])
		}
	}
	return pick(r)
}

// pick returns a copy of a random value.
func pick(r *rand.Rand) any {
	switch v := values[r.IntN(len(values))].(type) {
	case map[string]any:
		return maps.Clone(v)
	case []any:
		return slices.Clone(v)
	default:
		return v
	}
}
