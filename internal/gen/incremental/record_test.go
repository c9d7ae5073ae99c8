package incremental_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// TestSurroundings finds the files that affect a listing apart from sources.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t)
	p := gentest.NewPlan(t, dir)
	j, err := gentest.Job(request.Request{Dir: dir, Args: []string{"crd", "paths=./api/v1"}}, p)
	if err != nil {
		t.Fatal(err)
	}
	src, err := overlay.New(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	q, err := load.NewQuery(t.Context(), src, j.Paths, os.Environ(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := q.List(t.Context())
	if err != nil {
		t.Fatal("not listed:", err)
	}
	changing, files, ok := q.Surroundings(g.Folders)
	if !ok {
		t.Fatal("the surroundings are unknown")
	}
	slices.Sort(changing)
	want := []string{filepath.Join(dir, "api", "v1"), filepath.Join(dir, "internal", "shared")}
	if !slices.Equal(changing, want) {
		t.Errorf("changing are %q, want %q", changing, want)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum", "go.work", "vendor", "vendor/modules.txt", "api/go.mod", "api/v1/go.mod", "internal/go.mod", filepath.Join(here, "inflections.json")} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, filepath.FromSlash(name))
		}
		if !slices.Contains(files, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range files {
		if strings.HasPrefix(name, dir) && filepath.Ext(name) == ".go" {
			t.Errorf("%s is a source", name)
		}
	}
}

// TestRecordKey expects one record per job: for other arguments, headers or settings,
// there is another record, or none.
func TestRecordKey(t *testing.T) {
	dir := gentest.Zoo(t, "-- other.txt --\n// Other.\n")
	s := store.Open(t.TempDir())
	open := func(args string) *incremental.History {
		t.Helper()
		p := gentest.NewPlan(t, dir)
		j, err := gentest.Job(request.Request{Dir: dir, Args: strings.Fields(args), Store: s, ThisYear: "2042"}, p)
		if err != nil {
			t.Fatal(err)
		}
		src, err := overlay.New(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		return incremental.Open(s, src, j)
	}
	const usual = "crd object paths=./..."
	first := open(usual)
	if first.Key() == (store.Key{}) || open(usual).Key() != first.Key() {
		t.Fatal("the same job has another key")
	}
	for _, args := range []string{
		"crd paths=./...", "crd object paths=./api/...", "crd object paths=./... paths=./api", "crd:maxDescLen=0 object paths=./...",
		"crd object paths=./... output:crd:dir=out", "crd object:headerFile=other.txt paths=./...", "crd object:headerFile=other.txt,year=1 paths=./...",
	} {
		if h := open(args); h.Key() == (store.Key{}) || h.Key() == first.Key() {
			t.Errorf("%s has the key of %s", args, usual)
		}
	}
	for _, args := range []string{
		"crd object paths=./... output:stdout", "crd object paths=./... output:crd:none", "schemapatch:manifests=x paths=./...",
		"crd paths=example.com/zoo/...", "crd paths=/tmp/...",
	} {
		if open(args).Key() != (store.Key{}) {
			t.Errorf("%s has a record", args)
		}
	}
	header := open("crd object:headerFile=other.txt paths=./...").Key()
	gentest.WriteFile(t, filepath.Join(dir, "other.txt"), []byte("// Another.\n"))
	if open("crd object:headerFile=other.txt paths=./...").Key() == header {
		t.Error("another header has the same key")
	}
	words := filepath.Join(t.TempDir(), "words.json")
	gentest.WriteFile(t, words, []byte(`{"cow": "kine"}`))
	t.Setenv("INFLECT_PATH", words)
	before := open(usual).Key()
	gentest.WriteFile(t, words, []byte(`{"cow": "cows"}`))
	if open(usual).Key() == before {
		t.Error("other plurals have the same key")
	}
	t.Setenv("GOFLAGS", "-tags=x")
	if open(usual).Key() == first.Key() {
		t.Error("other settings have the same key")
	}
}

// TestNoRecord expects no record if a run over some packages does not determine the
// result of a run over all: with several files of the same name, with kinds without an
// API group, and with versions that only another kind refers to.
func TestNoRecord(t *testing.T) {
	t.Parallel()
	const sub = "-- api/v9/lion.go --\n// +groupName=zoo.example.com\npackage v9\n\n// Lion is the next one.\ntype Lion struct {\n\t// Age is one.\n\tAge int `json:\"age\"`\n}\n" +
		"-- api/v1/next.go --\npackage v1\n\nimport \"example.com/zoo/api/v9\"\n\n// Next leads there.\ntype Next struct {\n\t// Lion is one.\n\tLion v9.Lion `json:\"lion\"`\n}\n"
	for name, tt := range map[string]struct {
		files, args string
		record      bool
	}{
		"usual":           {"", "crd object paths=./...", true},
		"one folder":      {"", "crd object paths=./... output:object:dir=out", false},
		"no group":        {"-- api/v1/groupversion_info.go --\n// +kubebuilder:object:generate=true\npackage v1\n", "crd paths=./api/v1", false},
		"another version": {sub, "crd paths=./api/v1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t, tt.files)
			if name == "another version" {
				gentest.Replace(t, filepath.Join(dir, "api/v1/lion_types.go"), "type LionSpec struct {", "type LionSpec struct {\n\t// Next is one.\n\tNext Next `json:\"next\"`\n")
			}
			r := request.Request{Dir: dir, Args: strings.Fields(tt.args), ThisYear: "2042"}
			want := gentest.NewPlan(t, dir)
			if err := gen.Plan(t.Context(), r, want); err != nil {
				t.Fatal(err)
			}
			r.Store = store.Open(t.TempDir())
			for range 2 {
				got := gentest.NewPlan(t, dir)
				if err := gen.Plan(t.Context(), r, got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(gentest.Outcome(want), gentest.Outcome(got)); diff != "" {
					t.Errorf("(-without a store +with one):\n%s", diff)
				}
			}
			j, err := gentest.Job(r, gentest.NewPlan(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			src, err := overlay.New(dir, gentest.NewPlan(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			if recorded := incremental.Open(r.Store, src, j).Last() != nil; recorded != tt.record {
				t.Errorf("recorded is %v", recorded)
			}
		})
	}
}
