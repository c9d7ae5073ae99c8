// Package v2 contains version v2 of the API group ship.example.org.
// +kubebuilder:object:generate=true
// +groupName=ship.example.org
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// SchemeGroupVersion is the API group and version of the types in this
	// package. Generators of typed clients look for this name.
	SchemeGroupVersion = schema.GroupVersion{Group: "ship.example.org", Version: "v2"}

	// GroupVersion is the same value under the name that controllers and tests use.
	GroupVersion = SchemeGroupVersion

	// SchemeBuilder collects the types of this package. Each file registers the
	// types that it declares.
	SchemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		metav1.AddToGroupVersion(s, SchemeGroupVersion)
		return nil
	})

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
