package incremental_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
)

// TestRecordKey expects one record per job: for other arguments, headers or settings,
// there is another record, or none.
func TestRecordKey(t *testing.T) {
	dir := gentest.Zoo(t, "-- other.txt --\n// Other.\n")
	s := store.Open(t.TempDir())
	key := func(args string) store.Key {
		t.Helper()
		return incremental.Key(newQuery(t, dir, s, strings.Fields(args)))
	}
	const usual = "crd object paths=./..."
	first := key(usual)
	if first == (store.Key{}) || key(usual) != first {
		t.Fatal("the same job has another key")
	}
	for _, args := range []string{
		"crd paths=./...", "crd object paths=./api/...", "crd object paths=./... paths=./api", "crd:maxDescLen=0 object paths=./...",
		"crd object paths=./... output:crd:dir=out", "crd object:headerFile=other.txt paths=./...", "crd object:headerFile=other.txt,year=1 paths=./...",
	} {
		if is := key(args); is == (store.Key{}) || is == first {
			t.Errorf("%s has the key of %s", args, usual)
		}
	}
	for _, args := range []string{
		"crd object paths=./... output:stdout", "crd object paths=./... output:crd:none", "schemapatch:manifests=x paths=./...",
		"crd paths=example.com/zoo/...",
	} {
		if key(args) != (store.Key{}) {
			t.Errorf("%s has a record", args)
		}
	}
	header := key("crd object:headerFile=other.txt paths=./...")
	gentest.WriteFile(t, filepath.Join(dir, "other.txt"), []byte("// Another.\n"))
	if key("crd object:headerFile=other.txt paths=./...") == header {
		t.Error("another header has the same key")
	}
	words := filepath.Join(t.TempDir(), "words.json")
	gentest.WriteFile(t, words, []byte(`{"cow": "kine"}`))
	t.Setenv("INFLECT_PATH", words)
	before := key(usual)
	gentest.WriteFile(t, words, []byte(`{"cow": "cows"}`))
	if key(usual) == before {
		t.Error("other plurals have the same key")
	}
	t.Setenv("GOFLAGS", "-tags=x")
	if key(usual) == first {
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
			if recorded := incremental.Recorded(newQuery(t, dir, r.Store, r.Args)); recorded != tt.record {
				t.Errorf("recorded is %v", recorded)
			}
		})
	}
}
