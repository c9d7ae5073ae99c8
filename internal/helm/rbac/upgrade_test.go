package rbac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/chart"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// TestCompareUpgrade checks what is reported about releases that get another version of their chart.
func TestCompareUpgrade(t *testing.T) {
	t.Parallel()
	load := func(values, template string) *helmchart.Chart {
		c, err := chart.LoadFiles(map[string][]byte{"Chart.yaml": []byte("apiVersion: v2\nname: a\nversion: 1.0.0\n"),
			"values.yaml": []byte(values), "templates/a.yaml": []byte(template)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: %}\n"
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job, annotations: {helm.sh/hook: pre-upgrade}}\nspec: {template: {image: %}}\n"
	of := func(text, value string) string { return strings.ReplaceAll(text, "%", value) }
	for name, tc := range map[string]struct {
		values, before, after string
		want                  []ObjectChange
		findings              []string
	}{
		"nothing":   {"", of(claim, "a"), of(claim, "a"), nil, nil},
		"immutable": {"", of(claim, "a"), of(claim, "b"), nil, []string{"spec.storageClassName of PersistentVolumeClaim data changes, but cannot change: an upgrade fails"}},
		"hook":      {"", of(job, "a"), of(job, "b"), nil, nil},
		"kind": {"", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\n",
			[]ObjectChange{{From: "apps/v1 Deployment", To: "apps/v1 StatefulSet", Name: "a", File: "helm-charts/a/templates/a.yaml"}}, nil},
		"API version": {"", "apiVersion: a.b/v1\nkind: C\nmetadata: {name: a}\n", "apiVersion: a.b/v2\nkind: C\nmetadata: {name: a}\n",
			[]ObjectChange{{From: "a.b/v1 C", To: "a.b/v2 C", Name: "a", File: "helm-charts/a/templates/a.yaml"}}, nil},
		"optional": {"enabled: false\n", "{{ if .Values.enabled }}\n" + of(claim, "a") + "{{ end }}", "", // only with a boolean flipped
			[]ObjectChange{{From: "v1 PersistentVolumeClaim", Name: "data", File: "helm-charts/a/templates/a.yaml", With: "enabled=true"}}, nil},
		"does not render": {"tls: false\n", of(claim, "a"), `{{ if .Values.tls }}{{ fail "no tls" }}{{ end }}` + "\n" + of(claim, "a"), nil,
			[]string{"no tls (the old version renders with tls=true)"}},
	} {
		before := load(tc.values, tc.before)
		if name == "does not render" { // a boolean counts if a template uses it
			before = load(tc.values, "{{ if .Values.tls }}{{ end }}\n"+tc.before)
		}
		got, err := CompareUpgrade(t.Context(), before, load(tc.values, tc.after), Options{Folder: "helm-charts/a"})
		if err != nil {
			t.Fatal(err)
		}
		var findings []string
		for _, f := range got.Findings {
			findings = append(findings, f.Message)
		}
		if diff := cmp.Diff(tc.want, got.Objects) + cmp.Diff(tc.findings, findings); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
