package chart

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "record the results of Helm; the first build takes minutes")

// recordedFile has the results of Helm for the test cases.
const recordedFile = "testdata/rendered.json"

// renderCase is a chart with values.
type renderCase struct {
	Dir    string
	Values map[string]any
}

// renderResult is the result of rendering a chart.
type renderResult struct {
	Refused bool              `json:"refused,omitempty"`
	Files   map[string]string `json:"files,omitempty"`
}

// renderCases returns the charts in testdata/charts.txtar, with the values in their files
// given*.json.
func renderCases(t *testing.T) []renderCase {
	t.Helper()
	all, err := txtar.ParseFile("testdata/charts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var cases []renderCase
	for _, f := range all.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if base := filepath.Base(name); strings.HasPrefix(base, "given") {
			c := renderCase{Dir: filepath.Dir(name)}
			if err := json.Unmarshal(f.Data, &c.Values); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			cases = append(cases, c)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

// TestHelm renders charts, and compares the results with Helm's.
func TestHelm(t *testing.T) {
	t.Parallel()
	cases := renderCases(t)
	if *update {
		recordHelm(t, cases, recordedFile)
	}
	compareWithHelm(t, cases, recordedFile)
}

// compareWithHelm renders charts, and compares the results with the results of Helm in a file.
func compareWithHelm(t *testing.T, cases []renderCase, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []renderResult
	if err := json.Unmarshal(content, &recorded); err != nil || len(recorded) != len(cases) {
		t.Fatalf("%s belongs to other charts: run go test ./internal/chart -update (%v)", file, err)
	}
	for i, tc := range cases {
		c, err := Load(tc.Dir)
		if err != nil {
			t.Fatal(err)
		}
		files, err := Render(c, tc.Values, Release{Name: "release", Namespace: "space"}, Cluster{Version: "v1.37.0", APIVersions: []string{"v1", "apps/v1", "apps/v1/Deployment"}})
		if chartError := (*Error)(nil); err != nil && !errors.As(err, &chartError) {
			t.Errorf("%v is not an *Error", err)
		}
		got := renderResult{Refused: err != nil}
		for name, text := range files {
			if got.Files == nil {
				got.Files = map[string]string{}
			}
			got.Files[c.Name()+"/"+name] = text
		}
		if diff := cmp.Diff(recorded[i], got); diff != "" {
			t.Errorf("%s with %v (-helm +operon): %v\n%s", filepath.Base(tc.Dir), tc.Values, err, diff)
		}
	}
}

// recordHelm writes the results of Helm to a file.
func recordHelm(t *testing.T, cases []renderCase, file string) {
	t.Helper()
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	out, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".", out)
	cmd.Dir, cmd.Stdin = "testdata/helm", strings.NewReader(string(in))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// TestErrors checks the positions and messages of errors.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, text, want string }{
		{"Chart.yaml", "name: x\nversion: one\n", `Chart.yaml: version "one" is invalid`},
		{"Chart.yaml", "a: b: c", "Chart.yaml: mapping values are not allowed in this context"},
		{"values.yaml", "a:\n b: c: d", "values.yaml:2: mapping values are not allowed in this context"},
		{"templates/a.yaml", "\n{{ nope }}", `templates/a.yaml:2: function "nope" not defined`},
		{"templates/a.yaml", "\n\n  {{ .Values.a.b.c }}", `templates/a.yaml:3:12: executing "x/templates/a.yaml" at <.Values.a.b.c>: nil pointer evaluating interface {}.b`},
		{"templates/a.yaml", "{{ required \"give a\" .Values.a }}", "templates/a.yaml:1:3: give a"},
		{"templates/a.yaml", "{{ fail \"no: never\" }}", "templates/a.yaml:1:3: no: never"},
		{"templates/a.yaml", "a: b: c", "templates/a.yaml: the output is not valid YAML: mapping values are not allowed in this context"},
		{"templates/a.yaml", "{{ include \"x/templates/a.yaml\" . }}", ""},
	} {
		dir := t.TempDir()
		files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n", tc.file: tc.text}
		for name, text := range files {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Load(dir)
		if err == nil {
			var rendered map[string]string
			if rendered, err = Render(c, nil, Release{Name: "r"}, Cluster{}); err == nil {
				_, err = Objects(rendered)
			}
		}
		if err == nil || tc.want != "" && err.Error() != tc.want {
			t.Errorf("%s: %s\ngot  %v\nwant %s", tc.file, tc.text, err, tc.want)
		}
	}
}

// TestRenderer renders a chart several times with one renderer, and records the lookups.
func TestRenderer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":       "apiVersion: v2\nname: x\nversion: 1.0.0\n",
		"templates/a.yaml": `{{ define "a" }}{{ if and .Values.on (not false) }}on{{ else }}off{{ end }}{{ end }}{{ include "a" . }}{{ lookup "v1" "Secret" "n" "s" }}`,
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lookups []string
	re := &Renderer{Lookup: func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		lookups = append(lookups, strings.Join([]string{apiVersion, kind, namespace, name}, " "))
		return map[string]any{}, nil
	}}
	for _, on := range []bool{true, false, true} {
		rendered, err := re.Render(c, map[string]any{"on": on}, Release{Name: "r"}, Cluster{})
		if want := map[bool]string{true: "onmap[]", false: "offmap[]"}[on]; err != nil || rendered["templates/a.yaml"] != want {
			t.Errorf("on: %t: %q, %v", on, rendered["templates/a.yaml"], err)
		}
	}
	if got := strings.Join(lookups, ", "); got != "v1 Secret n s, v1 Secret n s, v1 Secret n s" {
		t.Errorf("lookups: %s", got)
	}
}

// TestReuseKeys checks that a renderer generates keys once.
func TestReuseKeys(t *testing.T) {
	t.Parallel()
	c, err := LoadFiles(map[string][]byte{
		"Chart.yaml":       []byte("apiVersion: v2\nname: x\nversion: 1.0.0\n"),
		"templates/a.yaml": []byte(`{{ (genCA .Values.name 1).Cert }}{{ genPrivateKey "ecdsa" }}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	re := &Renderer{ReuseKeys: true}
	texts := map[string]bool{}
	for _, name := range []string{"a", "a", "b"} {
		rendered, err := re.Render(c, map[string]any{"name": name}, Release{Name: "r"}, Cluster{})
		if err != nil || !strings.Contains(rendered["templates/a.yaml"], "BEGIN CERTIFICATE") {
			t.Fatal(rendered, err)
		}
		texts[rendered["templates/a.yaml"]] = true
	}
	if len(texts) != 2 {
		t.Errorf("two names have %d different keys", len(texts))
	}
}
