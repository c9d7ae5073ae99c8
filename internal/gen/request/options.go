package request

import (
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Options are the options of a generator: a [CRD], a [SchemaPatch], or a generator of
// controller-tools. They are parsed like a marker.
type Options interface {
	RegisterMarkers(into *markers.Registry) error
}

// CRD has the options of the generator of CRDs.
type CRD struct {
	typed
	IgnoreUnexportedFields     *bool    `marker:",optional"` // only exported fields are part of schemas
	AllowDangerousTypes        *bool    `marker:",optional"` // schemas may have floating-point numbers
	MaxDescLen                 *int     `marker:",optional"` // length in bytes at which descriptions are cut
	CRDVersions                []string `marker:"crdVersions,optional"`
	GenerateEmbeddedObjectMeta *bool    `marker:",optional"` // metadata below the root has properties
	HeaderFile                 string   `marker:",optional"`
	Year                       string   `marker:",optional"` // replaces YEAR in the header
	OmitToolVersion            *bool    `marker:",optional"` // CRDs have no annotation with the version of controller-tools

	// DeprecatedV1beta1CompatibilityPreserveUnknownFields is the value of the CRDs' field
	// preserveUnknownFields.
	DeprecatedV1beta1CompatibilityPreserveUnknownFields *bool `marker:",optional"`
}

// SchemaOptions returns the options that change the schemas of single types.
func (o CRD) SchemaOptions() schemas.Options {
	return schemas.Options{
		DangerousTypes: IsTrue(o.AllowDangerousTypes),
		ExportedOnly:   IsTrue(o.IgnoreUnexportedFields),
		EmbeddedMeta:   IsTrue(o.GenerateEmbeddedObjectMeta),
	}
}

// ApplyConfigurations is the name of the generator of apply configurations.
const ApplyConfigurations = "applyconfiguration"

// ApplyConfiguration has the options of the generator of apply configurations.
type ApplyConfiguration struct {
	HeaderFile string `marker:",optional"`
	// ExternalApplyConfigurations say where those of types in other packages are, each as
	// <package>.<type>@<package of the apply configuration>.
	ExternalApplyConfigurations []string `marker:",optional"`
	OmitToolVersion             *bool    `marker:",optional"` // for compatibility: the version is never part of them

	year string
}

// Year replaces YEAR in the header. controller-gen takes it from the clock.
func (a ApplyConfiguration) Year() string { return a.year }

// Markers of the generator of apply configurations.
const (
	MarkerApply       = "kubebuilder:ac:generate"       // of packages and of types
	MarkerApplyOutput = "kubebuilder:ac:output:package" // of packages
)

// RegisterMarkers implements Options.
func (ApplyConfiguration) RegisterMarkers(into *markers.Registry) error {
	if err := crdmarkers.Register(into); err != nil {
		return err
	}
	for _, target := range []markers.TargetType{markers.DescribesPackage, markers.DescribesType} {
		if err := into.Define(MarkerApply, target, false); err != nil {
			return err
		}
	}
	return into.Define(MarkerApplyOutput, markers.DescribesPackage, "")
}

// SchemaPatch has the options of the generator that replaces the schemas of existing CRDs.
type SchemaPatch struct {
	typed
	ManifestsPath              string `marker:"manifests"` // folder of the CRDs
	MaxDescLen                 *int   `marker:",optional"` // as for [CRD]
	GenerateEmbeddedObjectMeta *bool  `marker:",optional"` // as for [CRD]
}

// typed is part of generators that make schemas from types.
type typed struct{}

// RegisterMarkers implements Options.
func (typed) RegisterMarkers(into *markers.Registry) error { return crdmarkers.Register(into) }

// CheckFilter implements genall.NeedsTypeChecking.
func (typed) CheckFilter() loader.NodeFilter { return schemas.NeedsTypes }

// IsTrue reports whether an optional boolean is set to true.
func IsTrue(b *bool) bool { return b != nil && *b }
