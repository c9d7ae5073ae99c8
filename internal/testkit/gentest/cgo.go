package gentest

import "strings"

// Door has fields of types in packages of the standard library with cgo files.
const Door = `
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
	Mail  *net.MX    ` + "`json:\"-\"`" + `
	Owner *user.User ` + "`json:\"-\"`" + `
	URL   url.Values ` + "`json:\"-\"`" + `
}
`

// Translated is a file that cgo translates, for the package of Door.
const Translated = `
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

// WithoutUser removes from Door the imports with cgo files, except for net, whose types do not
// depend on these files.
var WithoutUser = strings.NewReplacer("\t\"os/user\"\n", "", "Owner *user.User", "Owner *net.SRV")
