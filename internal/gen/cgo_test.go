package gen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
)

// door has fields of types in packages of the standard library with cgo files.
const door = `
-- api/v3/doc.go --
// +kubebuilder:object:generate=true
// +groupName=zoo.example.com
package v3
-- api/v3/address.go --
package v3

import (
	"net"
	"net/url"
	"os/user"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Door is a kind.
// +kubebuilder:object:root=true
type Door struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	IP    net.IP     ` + "`json:\"-\"`" + `
	Net   *net.IPNet ` + "`json:\"-\"`" + `
	Owner *user.User ` + "`json:\"-\"`" + `
	URL   *url.URL   ` + "`json:\"-\"`" + `
}
`

const translated = `
-- api/v3/cgo.go --
package v3

// typedef int age;
import "C"

// +kubebuilder:rbac:groups=c.example.com,resources=things,verbs=get

// Size is in a file that cgo translates.
type Size struct {
	Width *int64 ` + "`json:\"width\"`" + `
}

// Age calls C.
func Age() int { return int(C.age(1)) }
`

// TestCgoAlone generates for a package in which all files import "C". controller-gen
// writes the code into Go's build cache. operon reports an error.
func TestCgoAlone(t *testing.T) {
	t.Parallel()
	dir := fixture(t, "zoo", strings.Replace(door, "import (\n", "import \"C\"\n\nimport (\n", 1), "-- api/v3/doc.go --\n// +kubebuilder:object:generate=true\npackage v3\n\nimport \"C\"\n")
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": []string{"crd", "object", "paths=./api/v3"}}}}
	p := newPlan(t, dir)
	err := Plan(t.Context(), request.Request{Dir: dir, Project: cfg}, p)
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
		"standard library":   {door, "crd object paths=./api/v3"},
		"net alone":          {withoutUser.Replace(door), "crd object paths=./api/v3"},
		"root":               {door + translated, "crd object rbac:roleName=r paths=./api/v3"},
		"root, syntax alone": {door + translated, "rbac:roleName=r paths=./api/v3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(tt.args)
			want, _ := byCLI(t, fixture(t, "zoo", tt.files), args)
			got, _ := byUs(t, fixture(t, "zoo", tt.files), args)
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%d files (-controller-gen +operon):\n%s", len(want), diff)
			}
		})
	}
}
