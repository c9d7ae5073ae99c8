package fakeapi

import (
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Selects reports whether the selectors of a list or watch select an object. The object
// may be deleted already.
func (s *Server) Selects(k kinds.Kind, o *unstructured.Unstructured, opts metav1.ListOptions) (bool, error) {
	byLabel, byField, err := selectors(opts)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return byLabel.Matches(labels.Set(o.GetLabels())) && s.selected(k, o, byField), nil
}

// selectors parses the selectors of a list or watch.
func selectors(opts metav1.ListOptions) (labels.Selector, fields.Selector, error) {
	byLabel, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return byLabel, byField, nil
}
