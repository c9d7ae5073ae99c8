// Package other has types for package odd.
// +kubebuilder:skip
package other

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/version"
)

// +kubebuilder:validation:Optional

// Plain is a struct.
type Plain struct {
	A string `json:"a"`
}

type (
	// Texts is a list.
	Texts []string
	// ByName is a map.
	ByName map[string]Plain
	// Word is text.
	// +kubebuilder:validation:MinLength=2
	Word string
	// Renamed is an alias.
	Renamed = resource.Quantity
	// Distant is an alias.
	Distant = version.Info
	// Anything is an interface.
	Anything = interface{}
	// Doer has a method.
	Doer interface{ Do() }
)
