package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A cluster can have both versions of OLM. Neither knows what the other has installed, so that both
// would manage the same CRDs.

// refuseOperatorOfV0 returns an error if OLM v0 installs the package of a bundle, or an operator that owns
// one of its CRDs, in any namespace.
func (c *Client) refuseOperatorOfV0(ctx context.Context, b *bundle.Bundle) error {
	operators, err := ifVisible(c.list(ctx, csvs, "", metav1.ListOptions{}))
	if err != nil {
		return err
	}
	wanted := ownedByCSV(b.CSV.Object)
	for _, o := range operators {
		if copied(o) {
			continue
		}
		pkg := packageOf(o)
		hint := "remove it first: operon cleanup " + cmp.Or(pkg, "PACKAGE") + " -n " + o.GetNamespace()
		if pkg == b.Package() {
			return fault.Usage("upgrade it with OLM v0: operon run bundle-upgrade BUNDLE -n "+o.GetNamespace()+"; or "+hint, "OLM v0 has installed %s in namespace %s", o.GetName(), o.GetNamespace())
		}
		for _, name := range ownedByCSV(o.Object) {
			if slices.Contains(wanted, name) {
				return fault.Usage(hint, "OLM v0 has installed %s in namespace %s, which owns %s %s too", o.GetName(), o.GetNamespace(), crds.kind, name)
			}
		}
	}
	subscribed, err := ifVisible(c.list(ctx, subscriptions, "", metav1.ListOptions{}))
	for _, s := range subscribed {
		if jsonvalue.String(s.Object, "spec", "name") == b.Package() {
			return fault.Usage("remove it first: operon cleanup "+b.Package()+" -n "+s.GetNamespace(), "Subscription %s of OLM v0 in namespace %s installs package %s", s.GetName(), s.GetNamespace(), b.Package())
		}
	}
	return err
}

// refuseOperatorOfV1 returns an error if OLM v1 installs the package of a bundle, or has installed one of
// its CRDs.
func (c *Client) refuseOperatorOfV1(ctx context.Context, b *bundle.Bundle) error {
	extensions, err := ifVisible(c.extensionsOf(ctx, b.Package()))
	if err != nil {
		return err
	}
	for _, o := range extensions {
		where := jsonvalue.String(o.Object, "spec", "namespace")
		return fault.Usage("remove it first: operon cleanup "+b.Package()+" -n "+where, "%s %s of OLM v1 installs package %s in namespace %s", clusterExtensions.kind, o.GetName(), b.Package(), where)
	}
	wanted := ownedByCSV(b.CSV.Object)
	extended, err := ifVisible(c.list(ctx, crds, "", metav1.ListOptions{LabelSelector: ownerKindKey + "=" + clusterExtensions.kind}))
	for _, o := range extended {
		if slices.Contains(wanted, o.GetName()) {
			return fault.Usage("remove that operator first: operon olm status", "%s %s belongs to %s %s of OLM v1", crds.kind, o.GetName(), clusterExtensions.kind, o.GetLabels()[ownerKey])
		}
	}
	return err
}

// ownedByCSV returns the names of the CRDs that a ClusterServiceVersion owns.
func ownedByCSV(csv map[string]any) (names []string) {
	for _, d := range jsonvalue.Maps(csv, "spec", "customresourcedefinitions", "owned") {
		names = append(names, jsonvalue.String(d, "name"))
	}
	return names
}

// HasExtension reports whether a ClusterExtension installs a package, whoever created it. It is false if
// the user, who then uses OLM v0, may not see that.
func (c *Client) HasExtension(ctx context.Context, pkg string) (bool, error) {
	all, err := c.extensionsOf(ctx, pkg)
	if apierrors.IsForbidden(err) {
		c.Note("%s", unseen)
		return false, nil
	}
	return len(all) > 0, err
}

const unseen = "no permission to list ClusterExtensions, so what OLM v1 has installed is unknown; using OLM v0"

// seesExtensions reports whether the user may list ClusterExtensions, and notes it if not.
func (c *Client) seesExtensions(ctx context.Context) (bool, error) {
	_, err := c.list(ctx, clusterExtensions, "", metav1.ListOptions{Limit: 1})
	if apierrors.IsForbidden(err) {
		c.Note("%s", unseen)
		return false, nil
	}
	return err == nil, err
}

// ifVisible returns the result of a list, or nothing if the user lacks the permission.
func ifVisible(all []unstructured.Unstructured, err error) ([]unstructured.Unstructured, error) {
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	return all, err
}
