package assets

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/pins"
)

// anyPatch matches every patch of a minor version.
const anyPatch = -1

// version is a Kubernetes release, or all patches of a minor version.
type version struct{ major, minor, patch int }

// versionRE matches the forms that setup-envtest accepts, without its selectors. A
// leading v is allowed because `kubectl version` prints it. Numbers have no leading
// zeros (semver 2.0.0, item 2), and fit an int of 32 bits.
var versionRE = lazyregexp.New(`^v?(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(?:\.(0|[1-9]\d{0,5}|x|\*))?$`)

// parseVersion parses a version from the command line; "" is the pinned version.
func parseVersion(s string) (version, error) {
	if s == "" {
		return pinned(), nil
	}
	m := versionRE().FindStringSubmatch(s)
	if m == nil {
		return version{}, fault.Usage(fmt.Sprintf("try %s, or %s for the newest patch in the store", pins.Kubernetes, pinned().anyPatch()),
			"Kubernetes version %q is not of the form 1.37.1, 1.37 or 1.37.x", s)
	}
	v := version{major: number(m[1]), minor: number(m[2]), patch: anyPatch}
	if m[3] != "" && m[3] != "x" && m[3] != "*" {
		v.patch = number(m[3])
	}
	return v, nil
}

// parseFolder parses the name of a folder of the store. ok is false if the name has
// another platform or no version.
func parseFolder(name string) (v version, ok bool) {
	base, ok := strings.CutSuffix(name, "-"+platform())
	if !ok || strings.HasPrefix(base, "v") {
		return version{}, false
	}
	v, err := parseVersion(base)
	return v, err == nil && base != "" && v.patch != anyPatch
}

// pinned returns the only version that Build can build.
func pinned() version {
	m := versionRE().FindStringSubmatch(pins.Kubernetes)
	return version{number(m[1]), number(m[2]), number(m[3])}
}

// number converts digits that versionRE has already checked.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// matches reports whether v is a wanted release.
func (want version) matches(v version) bool {
	return want.major == v.major && want.minor == v.minor && (want.patch == anyPatch || want.patch == v.patch)
}

// less reports whether v is older than w.
func (v version) less(w version) bool {
	return cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor), cmp.Compare(v.patch, w.patch)) < 0
}

// anyPatch returns the minor version of v with any patch.
func (v version) anyPatch() version { return version{v.major, v.minor, anyPatch} }

// String returns the form that parseVersion accepts, without a leading v.
func (v version) String() string {
	if v.patch == anyPatch {
		return fmt.Sprintf("%d.%d", v.major, v.minor)
	}
	return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
}
