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

// HasExtension reports whether a ClusterExtension installs a package, whoever created it.
func (c *Client) HasExtension(ctx context.Context, pkg string) (bool, error) {
	all, err := c.extensionsOf(ctx, pkg)
	return len(all) > 0, err
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
	for _, o := range objects {
		r, namespace, err := t.forManifest(ctx, o)
		if err != nil {
			return err
		}
		now, err := t.get(ctx, r, namespace, o.GetName())
		if err != nil {
			return err
		}
		if now != nil && !createdByOperon(*now) {
			return notOperons(r, o.GetName())
		}
	}
	content, err := t.content(image, replaces)
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

// notOperons is the error about an object that operon would create.
func notOperons(r resource, name string) error {
	return fault.Failed("rename or delete it", "%s %s exists, and operon did not create it", r.kind, name)
}
