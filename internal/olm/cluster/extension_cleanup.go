package cluster

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// cleanupExtension removes the operator of a package that OLM v1 installed into a namespace, and what
// operon created for it. changed is false if it is not there.
func (c *Client) cleanupExtension(ctx context.Context, r Removal) (changed bool, err error) {
	all, err := c.extensionsOf(ctx, r.Package)
	if err != nil {
		return false, err
	}
	here := slices.DeleteFunc(slices.Clone(all), func(o unstructured.Unstructured) bool {
		return jsonvalue.String(o.Object, "spec", "namespace") != r.Namespace
	})
	if elsewhere := len(all) > 0 && len(here) == 0; elsewhere {
		return false, nil
	}
	for _, o := range here {
		owned, err := c.list(ctx, crds, "", ownedByExtension(o.GetName()))
		if err != nil {
			return false, err
		}
		for _, crd := range owned { // while the operator runs, because it removes finalizers
			if err := c.removeCustomResources(ctx, crd.GetName()); err != nil {
				return false, err
			}
		}
		if err := c.removeExtension(ctx, o.GetName(), o.GetUID()); err != nil {
			return false, err
		}
		changed = true
	}
	removed, err := c.removeInstaller(ctx, r.Package)
	return changed || removed, err
}

// checkRemovable returns an error if OLM v1 would delete CRDs that must stay: because the user says so, or
// because an operator that stays owns them too.
func (c *Client) checkRemovable(ctx context.Context, r Removal) error {
	all, err := c.extensionsOf(ctx, r.Package)
	if err != nil || len(all) == 0 {
		return err
	}
	removed, err := c.ofPackage(ctx, r.Namespace, r.Package)
	if err != nil {
		return err
	}
	others, err := c.otherOwners(ctx, removed)
	if err != nil {
		return err
	}
	for _, o := range all {
		if jsonvalue.String(o.Object, "spec", "namespace") != r.Namespace {
			continue
		}
		owned, err := c.list(ctx, crds, "", ownedByExtension(o.GetName()))
		if err != nil {
			return err
		}
		if len(owned) > 0 && !r.CRDs {
			return fault.Usage("back up the objects, and leave out --delete-all=false", "OLM v1 deletes the CRDs of %s with its %s, and all their objects", r.Package, clusterExtensions.kind)
		}
		for _, crd := range owned {
			if other, shared := others[crd.GetName()]; shared {
				return fault.Usage("remove that operator first", "OLM v1 deletes the CRD %s with %s, and %s in namespace %s owns it too", crd.GetName(), r.Package, other.GetName(), other.GetNamespace())
			}
		}
	}
	return nil
}

// removeExtension removes a ClusterExtension, and waits until the garbage collector has removed its
// objects. A UID restricts it to that ClusterExtension.
func (c *Client) removeExtension(ctx context.Context, name string, uid types.UID) error {
	o, err := c.get(ctx, clusterExtensions, "", name)
	if err != nil {
		return err
	}
	if o != nil && uid != "" && uid != o.GetUID() {
		return nil
	}
	if o != nil {
		if err := c.removeObject(ctx, clusterExtensions, o); err != nil {
			return err
		}
	}
	return c.until(ctx, func() (bool, string, error) {
		for _, r := range extensionKinds {
			all, err := c.list(ctx, r, "", ownedByExtension(name))
			if err != nil {
				return false, "", err
			}
			for _, o := range all {
				return false, waitsToBeDeleted(r, &o), nil
			}
		}
		return true, "", nil
	})
}

// The labels of an object of a bundle with the kind and the name of its ClusterExtension.
const (
	ownerKindKey = groupV1 + "/owner-kind"
	ownerKey     = groupV1 + "/owner-name"
)

// ownedByExtension selects the objects of a bundle that OLM v1 has installed.
func ownedByExtension(name string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: ownerKindKey + "=" + clusterExtensions.kind + "," + ownerKey + "=" + name}
}

// removeInstaller removes what operon created for the package besides the ClusterExtension.
func (c *Client) removeInstaller(ctx context.Context, pkg string) (removed bool, err error) {
	for _, r := range installerKinds {
		all, err := c.installerObjects(ctx, r, pkg)
		if err != nil {
			return removed, err
		}
		for _, o := range all {
			if err := c.removeObject(ctx, r, &o); err != nil {
				return removed, err
			}
			removed = true
		}
	}
	return removed, nil
}

// installerObjects returns the objects of a kind that operon created for the package.
func (c *Client) installerObjects(ctx context.Context, r resource, pkg string) ([]unstructured.Unstructured, error) {
	return c.list(ctx, r, "", metav1.ListOptions{LabelSelector: managedBy + "=" + operon + "," + packageKey + "=" + pkg})
}

var (
	services        = core("services", "Service")
	serviceAccounts = core("serviceaccounts", "ServiceAccount")
	roles           = resource{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, "Role"}

	// extensionKinds are the kinds of the objects of a bundle whose end a command waits for.
	extensionKinds = append([]resource{crds, deployments, services, serviceAccounts, configMaps, roles, roleBindings}, ownedByLabel...)
	// installerKinds are the kinds that operon creates besides a ClusterExtension.
	installerKinds = []resource{clusterCatalogs, ownedByLabel[1], ownedByLabel[0], roleBindings, roles, serviceAccounts}
)
