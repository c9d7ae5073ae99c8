// Package groupversion determines how a package of API types registers them with a scheme.
package groupversion

import (
	"path"
	"slices"
	"strings"
)

// Form describes how a package registers its types. Go projects do it in several ways, which
// follow the tools and libraries of their time:
//
//   - functions: a runtime.SchemeBuilder, to which each file of types adds a function
//   - objects: the Builder of controller-runtime or one with the same methods, to which each
//     file adds its types
//   - a list of runtime.Objects to which each file adds its types (Cluster API)
//   - a single call of AddKnownTypes with all types (code for client-go)
type Form struct {
	File         string // with the declarations below
	Package      string
	GroupVersion string   // the variable with the group and version
	Aliases      []string // other variables with the same value
	Builder      string   // the builder; "" without one
	BuilderPath  string   // the package of the type of a builder of objects
	List         string   // the list of objects
	Call         string   // the file with the call that has all types
	Func, Scheme string   // the function with that call, and its parameter
	ResourceFunc bool     // whether there is a function Resource, for generated clients
	Markers      []string // of the package
	objects      bool     // whether the builder takes objects
	OtherVersion string   // the version in the package, if it is only another one
	OtherGroup   string   // the same for the group
}

// Functions reports whether each file registers its types with a function.
func (f Form) Functions() bool { return f.Builder != "" && !f.objects && f.List == "" && f.Call == "" }

// Objects reports whether each file passes its types to the builder.
func (f Form) Objects() bool { return f.Builder != "" && f.objects && f.List == "" }

// CopyMarker makes controller-gen write deepcopy methods for a package, or for one type.
const CopyMarker = "+kubebuilder:object:generate=true"

// CopiesAll reports whether controller-gen writes deepcopy methods for all types of the package. In others,
// each type needs a marker.
func (f Form) CopiesAll() bool {
	return slices.ContainsFunc(f.Markers, func(marker string) bool {
		return marker == CopyMarker || strings.HasPrefix(marker, "+k8s:deepcopy-gen=package")
	})
}

// MarkTypes adds CopyMarker to declarations of types if they need it.
func (f Form) MarkTypes(decls string) string {
	if f.CopiesAll() {
		return decls
	}
	return strings.TrimPrefix(strings.ReplaceAll("\n"+decls, "\ntype ", "\n// "+CopyMarker+"\ntype "), "\n")
}

// IsKnown reports whether a kind can be registered.
func (f Form) IsKnown() bool {
	return f.GroupVersion != "" && (f.Builder != "" || f.List != "" || f.Call != "")
}

// IsOurs reports whether the package registers its types as new projects do.
func (f Form) IsOurs() bool {
	return f.Functions() && f.Builder == "SchemeBuilder" && path.Base(f.File) == File
}

// Same reports whether the same code registers a kind in both packages.
func (f Form) Same(o Form) bool {
	return f.GroupVersion == o.GroupVersion && f.Builder == o.Builder && f.List == o.List && f.objects == o.objects &&
		(f.Call == "") == (o.Call == "")
}

// File is the name of the file of new packages that registers their types.
const File = "groupversion_info.go"
