// Package controllertools returns the version of controller-tools in this program, and
// finds the version that a generated file mentions.
package controllertools

import (
	"bytes"
	"runtime/debug"

	"github.com/operon-dev/operon/internal/pins"
	"golang.org/x/mod/semver"
)

// Names in the module and in generated files.
const (
	// Module is the path of the module.
	Module = "sigs.k8s.io/controller-tools"
	// Annotation is the annotation of a CRD with the version that generated it.
	Annotation = "controller-gen.kubebuilder.io/version"
	// AnnotationLine is the start of the annotation in a generated CRD.
	AnnotationLine = "\n    " + Annotation + ": "
)

// HintV1beta1 is the hint for CRDs of an API version that Kubernetes no longer serves.
const HintV1beta1 = "use crd:crdVersions=v1, which is the default: Kubernetes 1.22 removed v1beta1, and controller-tools does not generate it"

// Version returns the version of controller-tools in this program: vX.Y.Z, or "(devel)"
// if a folder replaced the module.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

// versionIn returns the version of controller-tools from build info. Build info of test
// binaries lists no dependencies; a test compares go.mod with the pin.
func versionIn(info *debug.BuildInfo) string {
	if info == nil {
		return pins.ControllerTools
	}
	for _, d := range info.Deps {
		if d.Path != Module {
			continue
		}
		if d.Replace == nil {
			return d.Version
		}
		if d.Replace.Version == "" {
			return "(devel)" // a folder has no version
		}
		return d.Replace.Version
	}
	return pins.ControllerTools
}

// FirstForGo125 is the first version that Go 1.25 and later versions can build. Those before require a
// golang.org/x/tools that depends on the layout of go/token.File, which Go 1.25 changed.
const FirstForGo125 = "v0.16.4"

// BuildsWithNewGo reports whether Go 1.25 and later versions can build a version of controller-tools.
func BuildsWithNewGo(version string) bool { return semver.Compare(version, FirstForGo125) >= 0 }

// VersionIn returns the version that a generated CRD mentions, or "".
func VersionIn(manifest []byte) string {
	_, version, _, _ := cutVersion(manifest)
	return version
}

// DifferOnlyInVersion reports whether two manifests differ only in the version of
// controller-tools, and returns both versions.
func DifferOnlyInVersion(a, b []byte) (versionA, versionB string, only bool) {
	headA, versionA, tailA, okA := cutVersion(a)
	headB, versionB, tailB, okB := cutVersion(b)
	only = okA && okB && versionA != versionB && bytes.Equal(headA, headB) && bytes.Equal(tailA, tailB)
	return versionA, versionB, only
}

// cutVersion splits a CRD before and after the version in its annotation.
func cutVersion(manifest []byte) (head []byte, version string, tail []byte, ok bool) {
	head, rest, ok := bytes.Cut(manifest, []byte(AnnotationLine))
	line, tail, ended := bytes.Cut(rest, []byte("\n"))
	return head, string(line), tail, ok && ended
}
