package chart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
)

// TestDependencies renders random charts of nested dependencies with conditions, tags, aliases and
// import-values, and compares the results with Helm's.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const file = "testdata/dependencies.json"
	random := charts{rand.New(rand.NewPCG(1, 2)), t}
	var cases []renderCase
	for range 200 {
		dir := t.TempDir()
		random.write(dir, "root", 0)
		cases = append(cases, renderCase{dir, random.values(0)})
	}
	if *update {
		recordHelm(t, cases, file)
	}
	compareWithHelm(t, cases, file)
}

// charts makes random charts.
type charts struct {
	*rand.Rand
	t *testing.T
}

// write writes a chart whose only template prints its values.
func (r charts) write(dir, name string, depth int) {
	r.t.Helper()
	metadata := chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: r.one("1.0.0", "2.0.0")}
	names := []string{"a", "b", "c"}
	if depth < 3 {
		for _, d := range names[:r.IntN(4)] {
			r.write(filepath.Join(dir, "charts", d), d, depth+1)
		}
		for range r.IntN(4) {
			d := r.entry(r.one(names...))
			if !slices.ContainsFunc(metadata.Dependencies, func(other *chart.Dependency) bool { return sameName(d, other) }) {
				metadata.Dependencies = append(metadata.Dependencies, d)
			}
		}
	}
	for name, content := range map[string]any{"Chart.yaml": metadata, "values.yaml": r.values(0), "templates/a.yaml": nil} {
		text, err := json.Marshal(content)
		if err != nil {
			r.t.Fatal(err)
		}
		if content == nil {
			text = []byte("{{ .Chart.Name }} {{ toJson .Values | sha256sum | trunc 12 }}") // keeps the recorded file small
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// sameName reports whether two entries have the same alias or name, which Helm refuses.
func sameName(a, b *chart.Dependency) bool { return cmp.Or(a.Alias, a.Name) == cmp.Or(b.Alias, b.Name) }

// entry returns an entry for a list of dependencies.
func (r charts) entry(name string) *chart.Dependency {
	d := &chart.Dependency{Name: name, Version: r.one("1.x", "*", "*", ">=1.0.0"), Alias: r.one("", "", "x", "y")}
	own := name
	if d.Alias != "" {
		own = d.Alias
	}
	d.Condition = r.one("", "", own+".on", own+".on,global.on", "on", " a.on, b.on ")
	if r.IntN(3) == 0 {
		d.Tags = []string{r.one("on", "a"), r.one("b", "x")}
	}
	switch r.IntN(6) {
	case 0:
		d.ImportValues = []any{r.one("a", "b")}
	case 1:
		d.ImportValues = []any{map[string]any{"child": r.one("a", "b", "exports"), "parent": r.one(".", "a", "x.y")}}
	}
	return d
}

// values returns values whose keys are names of charts and aliases, and parts of conditions.
func (r charts) values(depth int) map[string]any {
	object := map[string]any{}
	for _, key := range []string{"a", "b", "c", "x", "y", "on", "tags", "global", "exports"} {
		if r.IntN(2) == 0 {
			continue
		}
		isObject := slices.Contains([]string{"tags", "global", "exports"}, key) || len(key) == 1 && r.IntN(8) > 0
		switch {
		case isObject && depth < 2:
			object[key] = r.values(depth + 1)
		case key == "on" || depth > 0 && r.IntN(2) == 0:
			object[key] = []any{true, false, nil}[min(2, r.IntN(5)/2)]
		case depth > 0:
			object[key] = fmt.Sprint(r.IntN(9))
		}
	}
	return object
}

func (r charts) one(of ...string) string { return of[r.IntN(len(of))] }
