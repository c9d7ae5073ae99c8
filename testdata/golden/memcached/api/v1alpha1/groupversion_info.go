// Package v1alpha1 contains version v1alpha1 of the API group cache.example.org.
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=cache.example.org
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// SchemeGroupVersion is the API group and version of the types in this
	// package. Generators of typed clients look for this name.
	SchemeGroupVersion = schema.GroupVersion{Group: "cache.example.org", Version: "v1alpha1"}

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
