package gen

import (
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// TestListable decides by the question alone which path is taken.
func TestListable(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no gopackagesdriver
	usual := query{together: []folder{{"/p", true}}, Command: golist.Command{Arch: "amd64"}}
	for name, tt := range map[string]struct {
		change func(*query)
		env    []string
		want   bool
	}{
		"usual":            {func(*query) {}, []string{"HOME=/h"}, true},
		"many modules":     {func(q *query) { q.together = nil }, nil, false},
		"no go env":        {func(q *query) { q.Arch = "" }, nil, false},
		"another compiler": {func(q *query) { q.goFlags = "-v -compiler=gccgo" }, nil, false},
		"other flags":      {func(q *query) { q.goFlags = "-tags=x -mod=mod" }, nil, true},
		"in module cache": {func(q *query) {
			q.Dir, q.Fixed = filepath.FromSlash("/mod/m@v1"), []string{filepath.FromSlash("/go"), filepath.FromSlash("/mod")}
		}, nil, false},
		"beside it": {func(q *query) {
			q.Dir, q.Fixed = filepath.FromSlash("/modern"), []string{"", filepath.FromSlash("/mod")}
		}, nil, true},
		"a driver":  {func(*query) {}, []string{"GOPACKAGESDRIVER=/bin/driver"}, false},
		"no driver": {func(*query) {}, []string{"GOPACKAGESDRIVER=off"}, true},
	} {
		q := usual
		tt.change(&q)
		if got := q.listable(tt.env); got != tt.want {
			t.Errorf("%s: listable is %v", name, got)
		}
	}
}

// withoutUser leaves of the imports that cgo has a part in only the harmless net.
var withoutUser = strings.NewReplacer("\t\"os/user\"\n", "", "Owner *user.User", "Owner *net.TCPAddr")

// TestListed sees which sources the fast path answers for: those alone that it
// reads as the loader does.
func TestListed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files, args string
		want        bool
	}{
		"usual":          {"", "crd object paths=./...", true},
		"syntax alone":   {"", "rbac:roleName=r paths=./api/...", true},
		"cgo imported":   {withoutUser.Replace(door), "object paths=./api/v3", true},
		"cgo's types":    {door, "object paths=./api/v3", false},
		"cgo root":       {door + translated, "object paths=./api/v3", false},
		"import path":    {"", "crd paths=example.com/zoo/api/v1", false},
		"missing import": {"-- api/v1/s.go --\npackage v1\n\nimport _ \"nosuch/pkg\"\n", "crd paths=./api/...", false},
		"syntax error":   {"-- api/v1/s.go --\npackage v1\n\nfunc f() { := }\n", "crd paths=./api/...", false},
		"other module":   {nested + "-- sub/go.mod --\nmodule example.com/sub\n", "crd paths=./...", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := fixture(t, "zoo", tt.files)
			p := newPlan(t, dir)
			j, err := newJob(Request{Dir: dir, Args: strings.Fields(tt.args)}, p)
			if err != nil {
				t.Fatal(err)
			}
			src, err := newSources(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			defer src.close()
			q, err := newQuery(t.Context(), src, j.paths)
			if err != nil {
				t.Fatal(err)
			}
			r := &refresh{src: src, job: j}
			if g := q.list(t.Context()); g != nil {
				r.past = newPast(nil, nil, g, nil)
			}
			loaded := r.past != nil
			if loaded {
				r.set = &packageSet{fset: token.NewFileSet()}
				loaded = r.load(t.Context(), r.roots())
			}
			if loaded != tt.want {
				t.Fatalf("listed is %v", loaded)
			}
			if !loaded {
				return
			}
			if _, err := generate(t.Context(), r.set, j.generators, src); err != nil || r.loaded.Strayed() {
				t.Errorf("strayed is %v, error %v", r.loaded.Strayed(), err)
			}
			// What nobody was to ask for shows when somebody does.
			for _, root := range r.set.roots {
				for _, imported := range root.Imports() {
					imported.NeedSyntax()
					for _, further := range imported.Imports() {
						further.NeedTypesInfo()
					}
				}
			}
			if !r.loaded.Strayed() {
				t.Error("read a package by name alone, and did not stray")
			}
		})
	}
}
