package incremental_test

import (
	"os"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// TestListed checks for which sources a listing gives the result of the loader.
func TestListed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files, args string
		want        bool
	}{
		"usual":          {"", "crd object paths=./...", true},
		"syntax alone":   {"", "rbac:roleName=r paths=./api/...", true},
		"cgo imported":   {gentest.WithoutUser.Replace(gentest.Door), "object paths=./api/v3", true},
		"cgo's types":    {gentest.Door, "object paths=./api/v3", true},
		"cgo root":       {gentest.Door + gentest.Translated, "object paths=./api/v3", false},
		"import path":    {"", "crd paths=example.com/zoo/api/v1", false},
		"missing import": {"-- api/v1/s.go --\npackage v1\n\nimport _ \"nosuch/pkg\"\n", "crd paths=./api/...", false},
		"syntax error":   {"-- api/v1/s.go --\npackage v1\n\nfunc f() { := }\n", "crd paths=./api/...", false},
		"module below": {"-- sub/x.go --\n// +kubebuilder:object:generate=true\npackage sub\n\nimport \"net/url\"\n\ntype X struct{ U url.Values }\n" +
			"-- sub/go.mod --\nmodule example.com/sub\n\ngo 1.26\n", "object paths=./sub/...", true},
		"other module": {"-- sub/x.go --\npackage sub\n-- sub/go.mod --\nmodule example.com/sub\n", "crd paths=./...", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t, tt.files)
			p := gentest.NewPlan(t, dir)
			j, err := gentest.Job(request.Request{Dir: dir, Args: strings.Fields(tt.args)}, p)
			if err != nil {
				t.Fatal(err)
			}
			src, err := overlay.New(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			q, err := load.NewQuery(t.Context(), src, j.Paths, append(os.Environ(), "CGO_ENABLED=1"))
			if err != nil {
				t.Fatal(err)
			}
			g, err := q.List(t.Context())
			listed := err == nil
			var a *incremental.Attempt
			if listed {
				a = incremental.NewUpdate(src, j, nil, g).Try(t.Context(), false)
				listed = a.Loaded != nil
			}
			if listed != tt.want {
				t.Fatalf("listed is %v", listed)
			}
			if !listed {
				return
			}
			if a.Err != nil || a.Loaded.Strayed() {
				t.Errorf("strayed is %v, error %v", a.Loaded.Strayed(), a.Err)
			}
			// Strayed must report a request for a package that has only a name.
			for _, root := range a.Set.Roots {
				for _, imported := range root.Imports() {
					imported.NeedSyntax()
					for _, further := range imported.Imports() {
						further.NeedTypesInfo()
					}
				}
			}
			if !a.Loaded.Strayed() {
				t.Error("Strayed does not report a package that has only a name")
			}
		})
	}
}
