package request

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/project"
)

// files is a project in memory: the contents of files by their paths.
type files map[string]string

func (f files) Read(name string) ([]byte, error) {
	if content, ok := f[name]; ok {
		return []byte(content), nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (f files) Below(dir string) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	return names, nil
}

func (f files) Containing(extension, text string) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if path.Ext(name) == extension && strings.Contains(f[name], text) {
			names = append(names, name)
		}
	}
	return names, nil
}

// sources returns a project with calls in all kinds of files.
func sources() files {
	return files{
		"Makefile":        "include hack/more.mk\nall:\n\tcontroller-gen crd paths=$(DIR) output:crd:dir=deploy\n\thack/rbac.sh\n",
		"hack/more.mk":    "DIR := ./api/...\n",
		"hack/rbac.sh":    "controller-gen rbac:roleName=a paths=./...\nsed -i s/a/b/ config/rbac/role.yaml\n",
		"hack/other.sh":   "echo\n",
		"api/v1/types.go": "package v1\n//go:generate controller-gen object paths=.\n",
		"api/v1/other.go": "package v1\n",
		"go.mod":          "module example.org/x\n\nrequire sigs.k8s.io/controller-tools v0.19.0\n",
	}
}

// TestRecall changes a project at random, and expects the calls that a search finds.
func TestRecall(t *testing.T) {
	t.Parallel()
	contents := []string{
		"", "DIR := ./x/...\n", "controller-gen object paths=./y/...\n", "all:\n\tcontroller-gen webhook paths=./z\n", "\xff\xfe\n",
		"package v1\n//go:generate controller-gen crd paths=.\n", "all:\n\tcontroller-gen crd:headerFile='\xff' paths=./z\n",
		"version: '3'\ntasks:\n  a: controller-gen rbac:roleName=x paths=./...\n", "module example.org/x\n",
	}
	names := append(slices.Sorted(maps.Keys(sources())), "Taskfile.yml", "justfile", "hack/a/b.sh", "api/v2/a.go", "GNUmakefile")
	s := store.Open(t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	p := sources()
	for step := range 400 {
		wantCalls, wantPin := calls.Find(p)
		if gotCalls, gotPin := recallCalls(s, "/project", p); !reflect.DeepEqual(gotCalls, wantCalls) || gotPin != wantPin {
			t.Fatalf("step %d: %v %v, want %v %v, in %q", step, gotCalls, gotPin, wantCalls, wantPin, p)
		}
		name := names[random.IntN(len(names))]
		switch random.IntN(4) {
		case 0:
			delete(p, name)
		case 1:
			maps.Copy(p, sources())
		default:
			p[name] = contents[random.IntN(len(contents))]
		}
	}
}

// TestRecalled expects that the result of a search counts until the project changes, in the same folder.
func TestRecalled(t *testing.T) {
	t.Parallel()
	s, p := store.Open(t.TempDir()), sources()
	recallCalls(s, "/project", p)
	key, _ := callsKey("/project")
	text, ok := s.Get(callsKind, key)
	var known search
	if err := json.Unmarshal(text, &known); !ok || err != nil || len(known.Calls) != 3 {
		t.Fatalf("%v %v in %s", ok, err, text)
	}
	known.Pin.Version = "kept"
	text, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	s.Put(callsKind, key, text)
	for _, tt := range []struct {
		dir, name, content string
		kept               bool
	}{
		{"/project", "README.md", "", true},
		{"/project", "api/v1/other.go", "package v1 // changed\n", true},
		{"/other", "README.md", "", false},
		{"/project", "hack/more.mk", "DIR := .\n", false},
	} {
		p[tt.name] = tt.content
		if _, pin := recallCalls(s, tt.dir, p); (pin.Version == "kept") != tt.kept {
			t.Errorf("%s in %s: the version is %s", tt.name, tt.dir, pin.Version)
		}
	}
}

// TestSearches expects a search unless PROJECT has calls or the store has those of an earlier search.
func TestSearches(t *testing.T) {
	t.Parallel()
	s := store.Open(t.TempDir())
	r := Request{Dir: "/project", Store: s, Project: &project.Config{}}
	if !r.Searches() || !(Request{Dir: "/project"}).Searches() {
		t.Error("no search before the first one")
	}
	inPROJECT := r
	inPROJECT.Project = &project.Config{Plugins: map[string]any{ConfigKey: map[string]any{"args": []any{"crd", "paths=./..."}}}}
	if inPROJECT.Searches() {
		t.Error("a search, although PROJECT has calls")
	}
	recallCalls(s, "/project", sources())
	if r.Searches() {
		t.Error("a search after the first one")
	}
}
