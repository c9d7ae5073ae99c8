package gen

import (
	"bytes"
	"runtime/debug"

	"github.com/operon-dev/operon/internal/pins"
)

const toolsModule = "sigs.k8s.io/controller-tools"

// ControllerToolsVersion is the version of the controller-tools in this
// binary, as the build recorded it: vX.Y.Z, or "(devel)" when a folder replaced
// the module.
func ControllerToolsVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

// versionIn reads the version of controller-tools from build info. Test
// binaries list no dependencies; they are built from this repository, whose
// go.mod agrees with the pin.
func versionIn(info *debug.BuildInfo) string {
	if info == nil {
		return pins.ControllerTools
	}
	for _, d := range info.Deps {
		if d.Path != toolsModule {
			continue
		}
		if d.Replace == nil {
			return d.Version
		}
		if d.Replace.Version == "" {
			return "(devel)" // replaced by a folder: no version would be true
		}
		return d.Replace.Version
	}
	return pins.ControllerTools
}

// OnlyVersion reports whether two manifests differ in nothing but the version of
// controller-tools that made them, and tells both versions.
func OnlyVersion(a, b []byte) (versionA, versionB string, only bool) {
	headA, versionA, tailA, okA := cutVersion(a)
	headB, versionB, tailB, okB := cutVersion(b)
	only = okA && okB && versionA != versionB && bytes.Equal(headA, headB) && bytes.Equal(tailA, tailB)
	return versionA, versionB, only
}

// cutVersion cuts the version out of a CRD's annotation.
func cutVersion(manifest []byte) (head []byte, version string, tail []byte, ok bool) {
	head, rest, ok := bytes.Cut(manifest, []byte(signs["crd"]))
	line, tail, ended := bytes.Cut(rest, []byte("\n"))
	return head, string(line), tail, ok && ended
}
