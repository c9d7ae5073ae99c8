//go:build testall

package gen_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/gentest"
	"github.com/operon-dev/operon/internal/testkit/peertest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
)

// TestCgoAlone generates for a package in which all files import "C". controller-gen
// writes the code into Go's build cache. operon reports an error.
func TestCgoAlone(t *testing.T) {
	t.Parallel()
	dir := gentest.Zoo(t, strings.Replace(gentest.Door, "import (\n", "import \"C\"\n\nimport (\n", 1), "-- api/v3/doc.go --\n// +kubebuilder:object:generate=true\npackage v3\n\nimport \"C\"\n")
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []string{"crd", "object", "paths=./api/v3"}}}}
	p := gentest.NewPlan(t, dir)
	err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg}, p)
	const want = `api/v3/address.go: all files of package example.com/zoo/api/v3 import "C", so controller-gen would write its code into Go's build cache`
	if err == nil || err.Error() != want || fault.Code(err) != fault.CodeFailed || len(p.Changes()) > 0 {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestCgo loads packages with files that cgo translates, among the roots and in the
// standard library.
func TestCgo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ files, args string }{
		"standard library":   {gentest.Door, "crd object paths=./api/v3"},
		"net alone":          {gentest.WithoutUser.Replace(gentest.Door), "crd object paths=./api/v3"},
		"root":               {gentest.Door + gentest.Translated, "crd object rbac:roleName=r paths=./api/v3"},
		"root, syntax alone": {gentest.Door + gentest.Translated, "rbac:roleName=r paths=./api/v3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(tt.args)
			dir := gentest.Zoo(t, tt.files)
			want := peertest.Find(t, "controller-gen").Run(t, gentest.Question(t, dir, args...)).Written
			got, _ := gentest.Operon(t, dir, args)
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%d files (-controller-gen +operon):\n%s", len(want), diff)
			}
		})
	}
}
