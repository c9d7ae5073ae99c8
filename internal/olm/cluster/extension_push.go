package cluster

import (
	"context"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Labels returns the labels of what operon creates for OLM v1, the images of catalogs included.
func Labels(pkg string) map[string]string {
	return map[string]string{managedBy: operon, packageKey: pkg}
}

// CatalogImage returns the reference of the image from which operon has installed a package with OLM
// v1, and the one by digest that OLM reads; or "".
func (c *Client) CatalogImage(ctx context.Context, pkg string) (ref, used string, err error) {
	o, err := c.get(ctx, clusterCatalogs, "", objectName(pkg))
	if err != nil || o == nil || !createdByOperon(*o) {
		return "", "", err
	}
	return o.GetAnnotations()[imageKey], jsonvalue.String(o.Object, "spec", "source", "image", "ref"), nil
}

// push pushes the catalog, in which the bundle replaces another one or "", and writes its reference
// by digest into the ClusterCatalog. What could be refused in the cluster is checked before.
func (t *task) push(ctx context.Context, image CatalogImage, replaces string, objects []unstructured.Unstructured) error {
	if err := t.refuseOperatorOfV0(ctx, t.bundle); err != nil {
		return err
	}
	for _, o := range objects {
		r, namespace, err := t.forManifest(ctx, o)
		if err != nil {
			return err
		}
		now, err := t.get(ctx, r, namespace, o.GetName())
		if err != nil {
			return err
		}
		switch {
		case now != nil && !createdByOperon(*now):
			return notOperons(r, o.GetName())
		case now == nil && replaces != "" && o.GetKind() == clusterCatalogs.kind:
			return noCatalog(o.GetName())
		}
	}
	content, _, err := t.content(image, replaces)
	if err != nil {
		return err
	}
	pushed, err := image.serve(ctx, t, "", content)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() == clusterCatalogs.kind {
			return unstructured.SetNestedField(o.Object, pushed, "spec", "source", "image", "ref")
		}
	}
	return nil
}

// noCatalog is the error about an operator without its ClusterCatalog.
func noCatalog(name string) error {
	return fault.Failed("install the operator again: operon cleanup, operon run bundle", "%s %s does not exist", clusterCatalogs.kind, name)
}

// notOperons is the error about an object that operon would create.
func notOperons(r resource, name string) error {
	return fault.Failed("rename or delete it", "%s %s exists, and operon did not create it", r.kind, name)
}
