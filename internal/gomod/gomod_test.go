package gomod

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// external is a small module with API types. `make modules` downloads it.
var external = Module{Path: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring", Version: "v0.91.0"}

// write creates a folder with the given files and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const types = `package v1

type GaugeSpec struct{}

// Gauge is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gauge,scope=Cluster

type Gauge struct{ Spec GaugeSpec }

type GaugeList struct{ Items []Gauge }

// +genclient
// +genclient:nonNamespaced
type Scale struct{}

type ScaleList struct{}

type Dial struct{}

type DialList struct{}
`

func TestRead(t *testing.T) {
	t.Parallel()
	kinds := []Kind{{Name: "Dial"}, {Name: "Gauge", Plural: "gauge", Cluster: true}, {Name: "Scale", Cluster: true}}
	const version = "schema.GroupVersion{Group: %, Version: \"v1\"}\n"
	for name, test := range map[string]struct {
		files     map[string]string
		group     string
		registers bool
	}{
		"marker": {map[string]string{"doc.go": "// Package v1 is.\n// +k8s:deepcopy-gen=package\n// +groupName=metrics.example.net\npackage v1\n"}, "metrics.example.net", false},
		"marker in a block, method of the builder": {map[string]string{"doc.go": "/*\n+groupName=metrics.example.net\n*/\npackage v1\n",
			"register.go": "package v1\n\nvar (\n\tSchemeBuilder = 1\n\tAddToScheme = SchemeBuilder.AddToScheme\n)\n"}, "metrics.example.net", true},
		"literal, function": {map[string]string{"register.go": "package v1\n\nvar GroupVersion = " + strings.Replace(version, "%", `"metrics.example.net"`, 1) +
			"\nfunc AddToScheme(any) error { return nil }\n"}, "metrics.example.net", true},
		"constant": {map[string]string{"register.go": "package v1\n\nconst GroupName = \"metrics.example.net\"\n\nvar GroupVersion = " + strings.Replace(version, "%", "GroupName", 1)},
			"metrics.example.net", false},
		"constant of another package": {map[string]string{
			"../register.go": "package api\n\nconst GroupName = \"metrics.example.net\"\n",
			"register.go":    "package v1\n\nimport metrics \"example.net/gauges/api\"\n\nvar GroupVersion = " + strings.Replace(version, "%", "metrics.GroupName", 1)}, "metrics.example.net", false},
		"unknown":        {map[string]string{"register.go": "package v1\n\nvar GroupVersion = " + strings.Replace(version, "%", "name()", 1)}, "", false},
		"only in a test": {map[string]string{"x_test.go": "package v1\n\nvar AddToScheme = 1 // +groupName=x\n"}, "", false},
		"invalid file":   {map[string]string{"x.go": "package\n"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"api/v1/types.go": types}
			for file, content := range test.files {
				files[filepath.ToSlash(filepath.Join("api/v1", file))] = content
			}
			m := Module{Path: "example.net/gauges", Version: "v1.0.0", Dir: write(t, files)}
			want := API{Path: "example.net/gauges/api/v1", Module: m, Group: test.group, Registers: test.registers, Kinds: kinds}
			got, err := Read(m, want.Path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := Read(Module{Path: "example.net/gauges", Dir: t.TempDir()}, "example.net/gauges/api/v1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing package: %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	m := Module{Path: "example.net/gauges", Dir: write(t, map[string]string{
		"api/v1/types.go":          types,
		"api/v2/types.go":          types,
		"other/v1/types.go":        strings.ReplaceAll(types, "Gauge", "Meter"),
		"internal/v1/types.go":     types,
		"testdata/v1/types.go":     types,
		"vendor/a.org/v1/types.go": types,
		".git/v1/types.go":         types,
		"empty/v1/README.md":       "nothing",
	})}
	got, err := Find(t.Context(), []Module{{Path: "example.net/absent"}, m}, "v1", "Gauge")
	if err == nil && (len(got) != 1 || got[0].Path != "example.net/gauges/api/v1") {
		t.Errorf("got %v", got)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestFindCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := Module{Path: "example.net/gauges", Dir: write(t, map[string]string{"api/v1/types.go": types})}
	if _, err := Find(ctx, []Module{m}, "v1", "Gauge"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRequiredAndCached(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"go.mod": "module example.org/fleet\n\ngo 1.26.0\n\nrequire " + external.Path + " v0.91.0\n\nrequire example.net/absent v1.0.0\n",
		"go.sum": external.Path + " v0.91.0 h1:m2SZ2z5edgk0nXx7W6VHLfIsKZwgKbr+E5c2RNYyJB8=\n" +
			external.Path + " v0.91.0/go.mod h1:Gfzi4500QCMnptFIQc8YdDi8YZ4QA0vs22LROWZ3+YU=\n"})
	required, err := Go{Dir: dir}.Required(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(required) != 2 || required[0].Dir != "" && required[1].Dir != "" {
		t.Fatalf("got %v", required)
	}
	for _, m := range required {
		if (m.Path == external.Path) != (m.Dir != "") {
			t.Errorf("%s is at %q", m, m.Dir)
		}
	}
	for _, m := range []Module{external, {Path: external.Path}} {
		got, err := Go{Dir: dir}.Cached(t.Context(), m)
		if err != nil || got.Dir == "" || got.Version == "" {
			t.Errorf("%s: got %v in %q, %v", m, got, got.Dir, err)
		}
	}
	for _, m := range []Module{{Path: "example.net/absent"}, {Path: "example.net/absent", Version: "v1.0.0"}, {Path: "Bad Path"}} {
		got, err := Go{Dir: dir}.Cached(t.Context(), m)
		if err != nil || got != m {
			t.Errorf("%s: got %v in %q, %v", m, got, got.Dir, err)
		}
	}
	if m, err := (Go{Dir: dir}).Cached(t.Context(), external); err != nil {
		t.Error(err)
	} else if api, err := Read(m, m.Path+"/v1"); err != nil || api.Group != "monitoring.coreos.com" || !api.Registers {
		t.Errorf("got %+v, %v", api, err)
	}
	src, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || strings.Count(string(src), "\n") != 7 {
		t.Errorf("go.mod was changed: %v\n%s", err, src)
	}
}

// The requirement, and what the planned files import, are added to go.mod and go.sum. The
// disk does not change.
func TestRequire(t *testing.T) {
	t.Parallel()
	const goMod = "module example.org/fleet\n\ngo 1.26.0\n"
	dir := write(t, map[string]string{"go.mod": goMod, "old.go": "package fleet\n\nimport _ \"example.net/absent\"\n"})
	p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), dir), scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Share("new.go", 0o644, []byte("package fleet\n\nimport _ \""+external.Path+"\"\n")); err != nil {
		t.Fatal(err)
	}
	if err := p.Remove("old.go"); err != nil {
		t.Fatal(err)
	}
	next, err := Go{Dir: dir}.Require(t.Context(), p, Files{Mod: []byte(goMod)}, external.String(), true)
	if err != nil {
		t.Fatal(err)
	}
	if want := goMod + "\nrequire " + external.Path + " v0.91.0\n"; string(next.Mod) != want {
		t.Errorf("go.mod:\n%s", next.Mod)
	}
	if !strings.Contains(string(next.Sum), external.Path+" v0.91.0 h1:") {
		t.Errorf("go.sum:\n%s", next.Sum)
	}
	if src, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(src) != goMod {
		t.Errorf("on disk: %v\n%s", err, src)
	}

	_, err = Go{Dir: dir}.Require(t.Context(), p, Files{Mod: []byte(goMod)}, "example.net/absent@v1.0.0", true)
	if err == nil || !strings.Contains(err.Error(), "module example.net/absent@v1.0.0 is not in the module cache") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Go{Dir: dir}).Require(ctx, p, Files{Mod: []byte(goMod)}, external.String(), true); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// A module may have a program at its root, as k8s.io/apiextensions-apiserver does,
// whose own imports nobody needs. And what the plan moves is at its new place only.
func TestRequirePackage(t *testing.T) {
	t.Parallel()
	const goMod = "module example.org/fleet\n\ngo 1.26.0\n\nreplace example.net/gauges => ./gauges\n"
	dir := write(t, map[string]string{
		"go.mod":              goMod,
		"api/old.go":          "package api\n\nimport _ \"example.net/gauges/v1\"\n",
		"gauges/go.mod":       "module example.net/gauges\n\ngo 1.26.0\n",
		"gauges/main.go":      "package main\n\nimport _ \"example.net/absent\"\n\nfunc main() {}\n",
		"gauges/v1/v1.go":     "package v1\n",
		"api/gone/imports.go": "package gone\n\nimport _ \"example.net/absent\"\n",
	})
	p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), dir), scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Move("api/gone/imports.go", "api/here/imports.go"); err != nil {
		t.Fatal(err)
	}
	if err := p.Edit("api/here/imports.go", func([]byte) ([]byte, error) { return []byte("package here\n"), nil }); err != nil {
		t.Fatal(err)
	}
	next, err := Go{Dir: dir}.Require(t.Context(), p, Files{Mod: []byte(goMod)}, "example.net/gauges/v1@v1.0.0", true)
	if err != nil {
		t.Fatal(err)
	}
	if want := "require example.net/gauges v1.0.0\n"; !strings.Contains(string(next.Mod), want) || strings.Contains(string(next.Mod), "absent") {
		t.Errorf("go.mod:\n%s", next.Mod)
	}
}

// An error of the go command omits its long arguments.
func TestGoCommandErrors(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": "module example.org/fleet\n\ngo 9.99\n\nrequire example.net/absent v1.0.0\n"})
	_, err := Go{Dir: dir}.Required(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "go list: go: go.mod requires go >= 9.99 (") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := (Go{Dir: dir}).Required(t.Context()); err == nil || err.Error() != "the go command is not in PATH" {
		t.Errorf("without Go: %v", err)
	}
}

func TestModule(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"example.net/a", "example.net/a@v1.2.3", ""} {
		if got := Parse(s).String(); got != s {
			t.Errorf("%q: %q", s, got)
		}
	}
	m := Parse("example.net/a@v1.0.0")
	for path, want := range map[string]bool{"example.net/a": true, "example.net/a/b": true, "example.net/ab": false, "example.net": false} {
		if m.Holds(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}

// TestCachedWithoutInfo expects the folder of a version that the go command fetched because another module
// requires it.
func TestCachedWithoutInfo(t *testing.T) {
	cache := write(t, map[string]string{
		"example.org/!fleet@v1.0.0/go.mod":                  "module example.org/Fleet\n",
		"example.org/half@v1.0.0/go.mod":                    "module example.org/half\n",
		"cache/download/example.org/half/@v/v1.0.0.partial": "",
	})
	t.Setenv("GOMODCACHE", cache)
	complete, half := Module{Path: "example.org/Fleet", Version: "v1.0.0"}, Module{Path: "example.org/half", Version: "v1.0.0"}
	want := filepath.Join(cache, "example.org", "!fleet@v1.0.0")
	for m, want := range map[Module]string{complete: want, half: "", {Path: "example.org/absent", Version: "v1.0.0"}: ""} {
		got, err := Go{Dir: t.TempDir()}.Cached(t.Context(), m)
		if err != nil || got.Dir != want {
			t.Errorf("%s: %q, %v, want %q", m, got.Dir, err, want)
		}
	}
}

// TestCachedWithoutGo expects no error if the version is known: what needs no go command works without it.
func TestCachedWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if got, err := (Go{Dir: t.TempDir()}).Cached(t.Context(), external); got != external || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, external)
	}
	if _, err := (Go{Dir: t.TempDir()}).Cached(t.Context(), Module{Path: external.Path}); err == nil {
		t.Error("no error for a module without a version")
	}
}

func TestRequiredBy(t *testing.T) {
	t.Parallel()
	older := Module{Path: "sigs.k8s.io/controller-runtime", Version: "v0.23.3"} // operon requires it
	for _, test := range []struct {
		m          Module
		path, want string
	}{
		{older, "github.com/onsi/gomega", "v1.38.2"},
		{older, "example.net/absent", ""},
		{Module{Path: older.Path, Version: "v0.0.1"}, "github.com/onsi/gomega", ""},
	} {
		got, err := Go{}.RequiredBy(t.Context(), test.m, test.path)
		if err != nil || got != test.want {
			t.Errorf("%s requires %s %q, %v, want %q", test.m, test.path, got, err, test.want)
		}
	}
}
