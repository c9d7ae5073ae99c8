/*
Copyright 2024.
*/

// Package v1 contains version v1 of the API group crew.example.org.
// +kubebuilder:object:generate=true
// +groupName=crew.example.org
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is the group and version of the types.
	GroupVersion = schema.GroupVersion{Group: "crew.example.org", Version: "v1"}

	// SchemeBuilder adds types to a scheme.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}

	// AddToScheme adds the types of this version to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
