// Package resource has the rendered objects of charts.
package resource

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrResourceDuplicatesFound is the error for a chart with duplicate objects.
var ErrResourceDuplicatesFound = errors.New("duplicates")

// Spec is a rendered object.
type Spec struct{ Unstruct *unstructured.Unstructured }
