package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ownedCRDs returns the names of the CRDs that only these ClusterServiceVersions own, and no
// ClusterExtension.
func (c *Client) ownedCRDs(ctx context.Context, found installed) (names []string, err error) {
	others, err := c.otherOwners(ctx, found)
	if err != nil {
		return nil, err
	}
	extended, err := c.list(ctx, crds, "", metav1.ListOptions{LabelSelector: ownerKindKey + "=" + clusterExtensions.kind})
	if err != nil {
		return nil, err
	}
	for _, o := range extended {
		others[o.GetName()] = o
	}
	for _, o := range found.csvs {
		for _, name := range ownedByCSV(o.Object) {
			if _, shared := others[name]; !shared {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// otherOwners returns the CRDs that ClusterServiceVersions other than these own, with one of them.
func (c *Client) otherOwners(ctx context.Context, found installed) (map[string]unstructured.Unstructured, error) {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{})
	others := map[string]unstructured.Unstructured{}
	for _, o := range all {
		if copied(o) || slices.ContainsFunc(found.csvs, func(own unstructured.Unstructured) bool { return own.GetUID() == o.GetUID() }) {
			continue
		}
		for _, name := range ownedByCSV(o.Object) {
			others[name] = o
		}
	}
	return others, err
}

// removeCustomResources deletes all objects of a CRD, and waits until they are gone.
func (c *Client) removeCustomResources(ctx context.Context, crd string) error {
	o, err := c.get(ctx, crds, "", crd)
	if err != nil || o == nil {
		return err
	}
	r := resource{schema.GroupVersionResource{Group: jsonvalue.String(o.Object, "spec", "group"), Resource: jsonvalue.String(o.Object, "spec", "names", "plural")}, jsonvalue.String(o.Object, "spec", "names", "kind")}
	for _, v := range jsonvalue.Maps(o.Object, "spec", "versions") {
		if v["served"] == true {
			r.Version = jsonvalue.String(v, "name")
		}
	}
	all, err := c.list(ctx, r, "", metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := c.client(r, o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return explain(ctx, fmt.Errorf("delete %s %s: %w", r.kind, o.GetName(), err))
		}
	}
	for _, o := range all {
		if _, err := c.remove(ctx, r, o.GetNamespace(), o.GetName()); err != nil {
			return err
		}
	}
	return nil
}
