package rbac

import (
	"cmp"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// useCRDs adds the kinds that the chart defines.
func (d *deriver) useCRDs() {
	var all []kubeapi.CRD
	add := func(o *unstructured.Unstructured) {
		if crd, err := kubeapi.ReadCRD(o); err == nil {
			all = append(all, crd)
		}
	}
	for _, f := range d.found {
		if kubeapi.IsCRD(f.object.GroupVersionKind()) {
			add(f.object)
		}
	}
	for _, f := range d.chart.CRDObjects() {
		objects, err := chart.Objects(map[string]string{f.Filename: string(f.File.Data)})
		if err != nil {
			continue // the lint reports it
		}
		for _, o := range objects {
			if kubeapi.IsCRD(o.GroupVersionKind()) {
				add(o)
			}
		}
	}
	d.Kinds = d.Kinds.With(all...)
}

// kindOf returns the kind of an object. Rules have no versions, so a kind that is served in others
// will do. ok is false if the plural is a guess.
func (d *deriver) kindOf(gvk schema.GroupVersionKind) (k kubeapi.Kind, ok bool) {
	k, err := d.Kinds.FindObject(gvk)
	if err == nil {
		return k, true
	}
	for _, k := range d.Kinds.All() {
		if k.Group == gvk.Group && k.Kind == gvk.Kind {
			return k, true
		}
	}
	known, ok := wellKnown()[gvk.GroupKind().String()]
	resource := cmp.Or(known.plural, flect.Pluralize(strings.ToLower(gvk.Kind)))
	return kubeapi.Kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: resource, Namespaced: !known.cluster}, ok
}
