package chart

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// TestLint makes one mistake each in a chart, which Helm's linter finds, too.
func TestLint(t *testing.T) {
	t.Parallel()
	valid := map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: web\nversion: 1.0.0\nicon: https://example.org/icon.svg\n",
		"values.yaml":         "a: 1\n",
		"templates/_all.tpl":  "{{ define \"a\" }}{{ .Release.Name }}{{ end }}",
		"templates/a.yaml":    manifest("v1", "ConfigMap", "a") + "---\n" + manifest("rbac.authorization.k8s.io/v1", "Role", "a:B") + "---\n" + manifest("v1", "Service", "a"),
		"templates/NOTES.txt": "Hello",
	}
	for name, tc := range map[string]struct{ files, want string }{
		"none":           {"", ""},
		"version":        {"-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0\n", "Chart.yaml:3: version is not a text"},
		"appVersion":     {"-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: 1\n", "Chart.yaml:4: appVersion is not a text"},
		"email":          {"-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\nmaintainers: [{name: a, email: b}]\n", `Chart.yaml:4: the maintainer a has the invalid email address "b"`},
		"maintainer":     {"-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\nmaintainers: [{name: a, url: 'a b'}]\n", `Chart.yaml:4: the maintainer a has the invalid URL "a b"`},
		"source":         {"-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\nsources: [example.org]\n", `Chart.yaml:4: the source "example.org" is not a URL`},
		"icon":           {"-- Chart.yaml --\napiVersion: v2\nname: web\nversion: 1.0.0\nicon: icon.svg\n", `Chart.yaml:4: the icon "icon.svg" is not a URL`},
		"type":           {"-- Chart.yaml --\napiVersion: v1\nname: web\nversion: 1.0.0\ntype: application\n", "Chart.yaml:4: type needs apiVersion v2"},
		"unlisted":       {"-- charts/db/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n", "Chart.yaml: the chart db in the folder charts is not among the dependencies"},
		"extension":      {"-- templates/a.json --\n{}\n", "templates/a.json: Helm renders the file"},
		"hook":           {"-- templates/b.yaml --\n\n# helm.sh/hook: crd-install\n", "templates/b.yaml:2: Helm 3 ignores crd-install hooks"},
		"time":           {"-- templates/b.yaml --\n# {{ .Release.Time }}\n", "templates/b.yaml:1: .Release.Time does not exist"},
		"name":           {"-- templates/b.yaml --\n" + manifest("v1", "ConfigMap", "A_"), "ConfigMap A_: a lowercase RFC 1123 subdomain"},
		"service name":   {"-- templates/b.yaml --\n" + manifest("v1", "Service", "1.a"), "Service 1.a: a DNS-1035 label"},
		"namespace name": {"-- templates/b.yaml --\n" + manifest("v1", "Namespace", "a.b"), "Namespace a.b: must not contain dots"},
		"role name":      {"-- templates/b.yaml --\n" + manifest("rbac.authorization.k8s.io/v1", "Role", "a/b"), "Role a/b: may not contain '/'"},
		"selector":       {"-- templates/b.yaml --\n" + manifest("apps/v1", "Deployment", "a"), "Deployment a has no spec.selector"},
		"list":           {"-- templates/b.yaml --\napiVersion: v1\nkind: List\nmetadata: {name: a}\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b, annotations: {helm.sh/resource-policy: keep}}}\n", "Helm ignores the annotation helm.sh/resource-policy of Secret b, which is in a List"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(valid)
			for _, f := range txtar.Parse([]byte(tc.files)).Files {
				files[f.Name] = string(f.Data)
			}
			dir := filepath.Join(t.TempDir(), "web")
			for name, content := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := problems(t, dir)
			if (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			theirs := lint.All(dir, nil, "default", false)
			if (theirs.HighestSeverity >= support.WarningSev) != (tc.want != "") {
				t.Errorf("Helm finds %v", theirs.Messages)
			}
		})
	}
}

func manifest(apiVersion, kind, name string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
}

// problems returns all problems of a chart, one in a line.
func problems(t *testing.T, dir string) string {
	t.Helper()
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range LintFiles(c) {
		all = append(all, e.Error())
	}
	rendered, err := Render(c, nil, Release{Name: "a", Namespace: "default"}, Cluster{Version: "v1.37.0"})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(rendered)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		all = append(all, Lint(o)...)
	}
	return strings.Join(all, "\n")
}
