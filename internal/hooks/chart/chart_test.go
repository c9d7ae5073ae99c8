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

var update = flag.Bool("update", false, "ask Helm anew, which takes minutes to build the first time")

// recordedFile holds what Helm makes of the charts of the test.
const recordedFile = "testdata/rendered.json"

type question struct {
	Dir    string
	Values map[string]any
}

type answer struct {
	Refused bool              `json:"refused,omitempty"`
	Files   map[string]string `json:"files,omitempty"`
}

// questions are the charts of testdata/charts.txtar, each with the values in its
// files given*.json.
func questions(t *testing.T) []question {
	t.Helper()
	all, err := txtar.ParseFile("testdata/charts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var asked []question
	for _, f := range all.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if base := filepath.Base(name); strings.HasPrefix(base, "given") {
			q := question{Dir: filepath.Dir(name)}
			if err := json.Unmarshal(f.Data, &q.Values); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			asked = append(asked, q)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return asked
}

// TestHelm renders charts, and comes to what Helm comes to.
func TestHelm(t *testing.T) {
	t.Parallel()
	asked := questions(t)
	if *update {
		askHelm(t, asked)
	}
	content, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []answer
	if err := json.Unmarshal(content, &recorded); err != nil || len(recorded) != len(asked) {
		t.Fatalf("%s is about other charts: run go test ./internal/chart -update (%v)", recordedFile, err)
	}
	for i, q := range asked {
		c, err := Load(q.Dir)
		if err != nil {
			t.Fatal(err)
		}
		files, err := Render(c, q.Values, Release{Name: "release", Namespace: "space"}, Cluster{Version: "v1.37.0", APIVersions: []string{"v1", "apps/v1", "apps/v1/Deployment"}})
		if wrong := (*Error)(nil); err != nil && !errors.As(err, &wrong) {
			t.Errorf("%v is no Error", err)
		}
		got := answer{Refused: err != nil}
		for name, text := range files {
			if got.Files == nil {
				got.Files = map[string]string{}
			}
			got.Files[c.Name()+"/"+name] = text
		}
		if diff := cmp.Diff(recorded[i], got); diff != "" {
			t.Errorf("%s with %v (-Helm +here): %v\n%s", filepath.Base(q.Dir), q.Values, err, diff)
		}
	}
}

func askHelm(t *testing.T, asked []question) {
	t.Helper()
	in, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	out, err := filepath.Abs(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".", out)
	cmd.Dir, cmd.Stdin = "testdata/helm", strings.NewReader(string(in))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// TestErrors shows where errors are said to be.
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
		{"templates/a.yaml", "a: b: c", "templates/a.yaml: what it renders is no YAML: mapping values are not allowed in this context"},
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
