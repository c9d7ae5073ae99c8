package load

import (
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// TestListable checks which queries a listing can answer.
func TestListable(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no gopackagesdriver
	usual := Query{selection: selection{Folders: []Folder{{"/p", true}}}, Command: golist.Command{Arch: "amd64"}}
	for name, tt := range map[string]struct {
		change func(*Query)
		env    []string
		want   string // why not
	}{
		"usual":            {func(*Query) {}, []string{"HOME=/h"}, ""},
		"many modules":     {func(q *Query) { q.Folders, q.several = nil, "./... reaches another module, in api" }, nil, "./... reaches another module, in api"},
		"no go env":        {func(q *Query) { q.Arch = "" }, nil, "go env fails"},
		"another compiler": {func(q *Query) { q.goFlags = "-v -compiler=gccgo" }, nil, "GOFLAGS has -compiler"},
		"other flags":      {func(q *Query) { q.goFlags = "-tags=x -mod=mod" }, nil, ""},
		"in module cache": {func(q *Query) {
			q.Dir, q.External = filepath.FromSlash("/mod/m@v1"), []string{filepath.FromSlash("/go"), filepath.FromSlash("/mod")}
		}, nil, "the project is in the module cache or in GOROOT"},
		"outside the module cache": {func(q *Query) {
			q.Dir, q.External = filepath.FromSlash("/modern"), []string{"", filepath.FromSlash("/mod")}
		}, nil, ""},
		"a driver":  {func(*Query) {}, []string{"GOPACKAGESDRIVER=/bin/driver"}, "GOPACKAGESDRIVER is set"},
		"no driver": {func(*Query) {}, []string{"GOPACKAGESDRIVER=off"}, ""},
	} {
		q := usual
		tt.change(&q)
		got := ""
		q.Env = tt.env
		if err := q.Listable(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
