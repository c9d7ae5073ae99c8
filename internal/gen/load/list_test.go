package load

import (
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// TestListable checks which queries a listing can answer.
func TestListable(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no gopackagesdriver
	usual := Query{Folders: []Folder{{"/p", true}}, Command: golist.Command{Arch: "amd64"}}
	for name, tt := range map[string]struct {
		change func(*Query)
		env    []string
		want   bool
	}{
		"usual":            {func(*Query) {}, []string{"HOME=/h"}, true},
		"many modules":     {func(q *Query) { q.Folders = nil }, nil, false},
		"no go env":        {func(q *Query) { q.Arch = "" }, nil, false},
		"another compiler": {func(q *Query) { q.goFlags = "-v -compiler=gccgo" }, nil, false},
		"other flags":      {func(q *Query) { q.goFlags = "-tags=x -mod=mod" }, nil, true},
		"in module cache": {func(q *Query) {
			q.Dir, q.External = filepath.FromSlash("/mod/m@v1"), []string{filepath.FromSlash("/go"), filepath.FromSlash("/mod")}
		}, nil, false},
		"outside the module cache": {func(q *Query) {
			q.Dir, q.External = filepath.FromSlash("/modern"), []string{"", filepath.FromSlash("/mod")}
		}, nil, true},
		"a driver":  {func(*Query) {}, []string{"GOPACKAGESDRIVER=/bin/driver"}, false},
		"no driver": {func(*Query) {}, []string{"GOPACKAGESDRIVER=off"}, true},
	} {
		q := usual
		tt.change(&q)
		if got := q.listable(tt.env); got != tt.want {
			t.Errorf("%s: listable is %v", name, got)
		}
	}
}
