package request

import (
	"bytes"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Options are the options of a generator: a generator of controller-tools, or an [ApplyConfiguration]. They are parsed
// like a marker.
type Options interface {
	RegisterMarkers(into *markers.Registry) error
}

// ApplyConfigurations is the name of the generator of apply configurations.
const ApplyConfigurations = "applyconfiguration"

// ApplyConfiguration has the options of the generator of apply configurations.
type ApplyConfiguration struct {
	HeaderFile string `marker:",optional"`
	// ExternalApplyConfigurations say where apply configurations of types in other packages are, each as
	// <package>.<type>@<package of the apply configuration>.
	ExternalApplyConfigurations []string `marker:",optional"`
	OmitToolVersion             *bool    `marker:",optional"` // for compatibility: the version is never part of them

	year string
}

// Year replaces YEAR in the header. controller-gen takes it from the clock.
func (a ApplyConfiguration) Year() string { return a.year }

// MarkerApply is the marker of packages and types that have apply configurations.
const MarkerApply = "kubebuilder:ac:generate"

// MarkerApplyOutput is the marker of a package with the folder of its apply configurations.
const MarkerApplyOutput = "kubebuilder:ac:output:package"

var outputMarker = lazyregexp.New(`(?m)^// ?\+` + MarkerApplyOutput + `[=:]"?([^"\s]+)"?\s*$`)

// ApplyFolder returns the folder of apply configurations that a Go file chooses, from the folder of the file, or "".
func ApplyFolder(src []byte) string {
	above, _, _ := bytes.Cut(src, []byte("\npackage "))
	if m := outputMarker().FindSubmatch(above); m != nil {
		return string(m[1])
	}
	return ""
}

// RegisterMarkers implements Options.
func (ApplyConfiguration) RegisterMarkers(into *markers.Registry) error {
	return applyconfiguration.Generator{}.RegisterMarkers(into)
}

// IsTrue reports whether an optional boolean is set to true.
func IsTrue(b *bool) bool { return b != nil && *b }
