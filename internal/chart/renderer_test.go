package chart

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// TestRendererReuse renders a chart with one renderer and several sets of values, each of them twice.
// The results must be a new renderer's.
func TestRendererReuse(t *testing.T) {
	t.Parallel()
	c := chartOf(t, `-- Chart.yaml --
apiVersion: v2
name: x
version: 1.0.0
dependencies:
  - {name: db, alias: store, version: 1.0.0, condition: store.enabled}
-- values.yaml --
flag: false
object: {a: 1}
-- charts/db/Chart.yaml --
apiVersion: v2
name: db
version: 1.0.0
-- charts/db/templates/a.yaml --
of db {{ .Values.global.key }}
-- templates/_a.tpl --
{{ define "write" }}{{ $_ := set .Values.object "written" .Values.flag }}{{ .Values.object.written }}{{ end }}
-- templates/a.yaml --
{{ .Values.object }} {{ include "write" . }} {{ .Release.IsUpgrade }} {{ tpl "{{ define \"t\" }}{{ .Values.flag }}{{ end }}{{ include \"t\" . }}" . }}
-- templates/b.yaml --
{{ if .Values.fail }}{{ fail "failed" }}{{ end }}{{ .Values.object }}
`)
	re := &Renderer{}
	for _, text := range []string{`{}`, `{flag: true}`, `{store: {enabled: false}}`, `{fail: true}`, `{object: null}`, `{global: {key: value}}`,
		`{}`, `{flag: true}`, `{store: {enabled: false}}`, `{fail: true}`} {
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		for _, upgrade := range []bool{false, true} {
			compare(t, re, c, values, Release{Name: "r", Upgrade: upgrade}, Cluster{Version: "v1.2.3"})
		}
	}
}

// compare renders a chart with a renderer and with a new one.
func compare(t *testing.T, re *Renderer, c *chart.Chart, values map[string]any, r Release, k Cluster) {
	t.Helper()
	want, wantErr := Render(c, values, r, k)
	got, err := re.Render(c, values, r, k)
	if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(wantErr) != fmt.Sprint(err) {
		t.Fatalf("%v: %v, want %v (-want +got):\n%s", values, err, wantErr, diff)
	}
}

// chartOf returns the chart with files in the form of txtar.
func chartOf(t *testing.T, files string) *chart.Chart {
	t.Helper()
	all := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(files)).Files {
		all[f.Name] = f.Data
	}
	c, err := LoadFiles(all)
	if err != nil {
		t.Fatal(slices.Sorted(maps.Keys(all)), err)
	}
	return c
}
