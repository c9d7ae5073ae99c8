// Package controllertools knows which version of controller-tools is part of this
// program, and where generated files mention it.
package controllertools

import (
	"bytes"
	"runtime/debug"

	"github.com/operon-dev/operon/internal/pins"
)

const (
	Module = "sigs.k8s.io/controller-tools"
	// Annotation is the annotation of a CRD with the version that generated it.
	Annotation = "controller-gen.kubebuilder.io/version"
	// AnnotationLine is in every generated CRD.
	AnnotationLine = "\n    " + Annotation + ": "
)

// Version is the version of the controller-tools in this
// binary, as the build recorded it: vX.Y.Z, or "(devel)" when a folder replaced
// the module.
func Version() string {
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
		if d.Path != Module {
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

// DifferOnlyInVersion reports whether two manifests differ in nothing but the version of
// controller-tools that made them, and tells both versions.
func DifferOnlyInVersion(a, b []byte) (versionA, versionB string, only bool) {
	headA, versionA, tailA, okA := cutVersion(a)
	headB, versionB, tailB, okB := cutVersion(b)
	only = okA && okB && versionA != versionB && bytes.Equal(headA, headB) && bytes.Equal(tailA, tailB)
	return versionA, versionB, only
}

// cutVersion cuts the version out of a CRD's annotation.
func cutVersion(manifest []byte) (head []byte, version string, tail []byte, ok bool) {
	head, rest, ok := bytes.Cut(manifest, []byte(AnnotationLine))
	line, tail, ended := bytes.Cut(rest, []byte("\n"))
	return head, string(line), tail, ok && ended
}
