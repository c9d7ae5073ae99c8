package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// readings are templates that read or change values in different ways.
const readings = `
-- Chart.yaml --
apiVersion: v2
name: x
version: 1.0.0
dependencies:
  - {name: sub, version: 1.0.0, condition: sub.enabled}
-- values.yaml --
flag: false
text: plain
empty: {}
object: {a: 1, b: {c: deep, d: [1, {e: f}]}}
list: [{name: one}, {name: two}]
global: {shared: {key: value}}
template: '{{ .Values.text }}'
sub: {enabled: true}
-- charts/sub/Chart.yaml --
apiVersion: v2
name: sub
version: 1.0.0
-- charts/sub/values.yaml --
own: 1
global: {shared: {more: 2}}
-- charts/sub/templates/_sub.tpl --
{{ define "both" }}of sub{{ end }}{{ define "sub" }}{{ .Values.own }}{{ end }}
-- charts/sub/templates/a.yaml --
{{ .Values.own }} {{ .Values.global.shared | toYaml }} {{ .Values.global.flag }}
-- templates/_a.tpl --
{{ define "field" }}{{ .Values.text }}{{ end }}
{{ define "context" }}{{ .context.Values.flag }}{{ .value }}{{ end }}
{{ define "name" }}{{ .Template.Name }} {{ .Template.BasePath }} {{ .Values.flag }}{{ end }}
{{ define "write" }}{{ $_ := set .Values.object "written" .Values.flag }}{{ .Values.object.written }}{{ end }}
-- templates/fields.yaml --
{{ .Values.flag }} {{ $.Values.object.b.c }} {{ .Values.no }} {{ with .Values.object }}{{ .a }}{{ end }} {{ (.Values.object).a }} {{ (default .Values.empty .Values.object).a }}
-- templates/deepfield.yaml --
{{ if .Values.risky }}{{ .Values.object.b.c.x.y }}{{ end }}
-- templates/missing.yaml --
{{ if .Values.risky }}{{ .Values.none.x }}{{ end }}
-- templates/printed.yaml --
{{ .Values.object }} {{ .Values.list }} {{ default .Values.empty .Values.object }} {{ index .Values "object" "b" }}
-- templates/conditions.yaml --
{{ if .Values.empty }}full{{ else if and .Values.flag (not .Values.none) }}flag{{ end }}{{ with .Values.empty }}{{ .key }}{{ end }}{{ empty .Values.empty }}
-- templates/ranges.yaml --
{{ range $k, $v := .Values.object }}{{ $k }}{{ $v }}{{ end }}{{ range .Values.list }}{{ .name }}{{ end }}{{ range default list .Values.list }}{{ .name }}{{ end }}
-- templates/functions.yaml --
{{ get .Values "text" }}{{ hasKey .Values "extra" }}{{ dig "b" "c" "none" .Values.object }}{{ pick .Values.object "a" }}{{ len .Values.object }}{{ index .Values.list 0 }}{{ printf "%v" .Values.object }}{{ kindOf .Values.extra }}{{ .Values.object | toJson }}{{ ternary .Values.object .Values.list .Values.flag | toYaml }}{{ keys .Values.empty }}
-- templates/includes.yaml --
{{ include "field" . }}{{ template "field" . }}{{ include "context" (dict "context" $ "value" .Values.text) }}{{ include "both" . }}{{ tpl .Values.template . }}{{ tpl "{{ define \"t\" }}{{ .Values.flag }}{{ end }}{{ include \"t\" . }}" . }}
-- templates/facts.yaml --
{{ .Release.IsUpgrade }}{{ .Capabilities.APIVersions.Has "a/v1" }}{{ .Chart.Name }}{{ range .Chart.Dependencies }}{{ .Name }}{{ end }}{{ range $k, $v := .Subcharts }}{{ $k }}{{ $v.Values.own }}{{ end }}{{ .Files.Get "a" }}
-- templates/name1.yaml --
{{ include "name" . }}
-- templates/name2.yaml --
{{ include "name" . }}
-- templates/b-set.yaml --
{{ if .Values.write }}{{ $_ := set .Values "text" "changed" }}{{ $_ := unset .Values.object "a" }}{{ $_ := set $ "added" (dict "key" .Values.flag) }}{{ $_ := set .Values.global.shared "key" "changed" }}{{ end }}{{ .Values.text }}
-- templates/b-merge.yaml --
{{ if .Values.merge }}{{ $_ := merge .Values.object (dict "merged" .Values.flag) }}{{ end }}
-- templates/b-copy.yaml --
{{ $c := deepCopy $ }}{{ $_ := set $c "Values" (dict "text" "copied") }}{{ include "field" $c }}{{ $c.Release.Name }}{{ $o := deepCopy .Values.object }}{{ $_ := set $o "a" "copied" }}{{ $o.a }}{{ $o.b.c }}{{ $m := merge $o (dict "z" .Values.flag) }}{{ $m.z }}{{ $m.b.c }}{{ (mergeOverwrite (deepCopy .Values.object) (dict "a" 5)).a }}
-- templates/b-lists.yaml --
{{ if .Values.lists }}{{ range .Values.list }}{{ $_ := set . "name" "changed" }}{{ end }}{{ end }}{{ include "write" . }}
-- templates/a-after.yaml --
{{ .Values.text }}{{ .Values.object }}{{ .added }}{{ with .added }}{{ .key }}{{ end }}{{ .Values.list }}{{ .Values.global }}{{ include "write" . }}{{ include "field" . }}
-- templates/a-fails.yaml --
{{ if .Values.fail }}{{ fail .Values.text }}{{ end }}
-- templates/NOTES.txt --
{{ index (splitList "," .Values.text) 0 }}{{ (split "," .Values.text)._0 }}
`

// TestRendererReuse renders a chart with one renderer and many sets of values, each of them twice and
// mixed with others. The results must be those of a new renderer.
func TestRendererReuse(t *testing.T) {
	t.Parallel()
	c := chartOf(t, readings)
	var sets []map[string]any
	for text := range strings.Lines(`{}
{flag: true}
{text: other}
{text: "a,b"}
{empty: {key: value}}
{empty: 1}
{object: {a: 2}}
{object: null}
{object: {b: {c: {x: {y: 1}}}}}
{object: {b: text}}
{risky: true}
{risky: true, none: {x: 1}}
{risky: true, object: {b: {c: {x: {y: 1}}}}}
{risky: true, none: {x: 1}, object: {b: {c: {x: {y: 1}}}}}
{none: {x: 1}}
{extra: null}
{extra: 1}
{list: []}
{list: [{name: one}, {name: three}]}
{global: {shared: {key: other}}}
{global: {shared: text}}
{global: {flag: true}}
{sub: {global: {shared: {key: ofsub}}}}
{sub: {own: 2}}
{sub: {enabled: false}}
{sub: text}
{write: true}
{write: true, flag: true}
{write: true, sub: {global: {shared: {key: ofsub}}}}
{merge: true}
{merge: true, flag: true}
{lists: true}
{fail: true}
{template: "{{ .Values.flag }}"}
`) {
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		sets = append(sets, values)
	}
	re := &Renderer{}
	rendered := 0
	for i := range len(sets) * len(sets) {
		values := sets[(i*i+i/len(sets))%len(sets)]
		r, k := Release{Name: "r", Upgrade: i%5 == 0}, Cluster{Version: "v1.2.3", APIVersions: []string{"a/v1", "b/v1"}[i%7/6:]}
		if compare(t, re, c, values, r, k) {
			rendered++
		}
	}
	if rendered < len(sets)*len(sets)/2 {
		t.Errorf("only %d renderings succeed", rendered)
	}
}

// TestRendererReusesOutputs checks which templates are executed again, by their lookups.
func TestRendererReusesOutputs(t *testing.T) {
	t.Parallel()
	c := chartOf(t, `-- Chart.yaml --
apiVersion: v2
name: x
version: 1.0.0
-- values.yaml --
a: {x: false, b: {c: 1}}
b: 1
-- templates/_h.tpl --
{{ define "h" }}{{ lookup "h" "" "" "" }}{{ .Values.b }}{{ end }}
-- templates/a.yaml --
{{ lookup "a" "" "" "" }}{{ .Values.a.x }}{{ include "h" . }}
-- templates/b.yaml --
{{ lookup "b" "" "" "" }}{{ toYaml .Values.a }}
-- templates/c.yaml --
{{ lookup "c" "" "" "" }}{{ $_ := set .Values.a "password" (default "new" .Values.a.password) }}
`)
	var executed []string
	re := &Renderer{Lookup: func(apiVersion, _, _, _ string) (map[string]any, error) {
		executed = append(executed, apiVersion)
		return map[string]any{}, nil
	}}
	for _, step := range []struct{ values, want string }{
		{`{}`, "a b c h"},
		{`{}`, ""},
		{`{d: 1}`, ""},
		{`{a: {b: {c: 2}}}`, "b"},
		{`{a: {x: true}}`, "a b"},
		{`{b: 2}`, "a h"},
		{`{a: {x: true}, b: 1}`, ""},
		{`{a: {password: old}}`, "b c"},
		{`{}`, ""},
	} {
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(step.values), &values); err != nil {
			t.Fatal(err)
		}
		executed = nil
		if _, err := re.Render(c, values, Release{}, Cluster{}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(executed)
		if got := strings.Join(executed, " "); got != step.want {
			t.Errorf("%s executes %q, want %q", step.values, got, step.want)
		}
	}
}

// compare renders a chart with a renderer and with a new one, and reports whether it renders.
func compare(t *testing.T, re *Renderer, c *chart.Chart, values map[string]any, r Release, k Cluster) bool {
	t.Helper()
	want, wantErr := Render(c, values, r, k)
	got, err := re.Render(c, values, r, k)
	if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(wantErr) != fmt.Sprint(err) {
		t.Fatalf("%v: %v, want %v (-want +got):\n%s", values, err, wantErr, diff)
	}
	return err == nil
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
