// Package resource has what charts render.
package resource

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrResourceDuplicatesFound is what comes of a chart with an object twice.
var ErrResourceDuplicatesFound = errors.New("duplicates")

// Spec is an object.
type Spec struct{ Unstruct *unstructured.Unstructured }
