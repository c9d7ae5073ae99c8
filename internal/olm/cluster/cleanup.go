package cluster

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Removal says what to remove.
type Removal struct {
	Package   string
	Namespace string
	CRDs      bool // the CRDs of the operator, with all their objects
	Group     bool // the OperatorGroup that operon created
	Groups    bool // all OperatorGroups of the namespace
}

// Cleanup removes an operator from a namespace. changed is false if it is not there.
func (c *Client) Cleanup(ctx context.Context, r Removal) (changed bool, err error) {
	found, err := c.installed(ctx, r.Namespace, r.Package)
	if err != nil {
		return false, err
	}
	for _, s := range found.subscriptions { // before OLM installs the operator again
		if _, err := c.remove(ctx, subscriptions, r.Namespace, s.GetName()); err != nil {
			return false, err
		}
	}
	if err := c.removePlans(ctx, r.Namespace, found); err != nil {
		return false, err
	}
	owned, err := c.ownedCRDs(ctx, found)
	if err != nil {
		return false, err
	}
	if r.CRDs { // while the operator runs, because it removes finalizers
		for _, name := range owned {
			if err := c.removeCustomResources(ctx, name); err != nil {
				return false, err
			}
		}
	}
	for _, o := range found.csvs {
		if err := c.removeCSV(ctx, o); err != nil {
			return false, err
		}
		if err := c.removeBundleRoles(ctx, o.GetName()); err != nil {
			return false, err
		}
	}
	if r.CRDs {
		for _, name := range owned {
			if _, err := c.remove(ctx, crds, "", name); err != nil {
				return false, err
			}
		}
	}
	return c.removeShared(ctx, r, len(found.csvs)+len(found.subscriptions) > 0)
}

// OtherNamespaces returns the other namespaces that have a package, as far as the user may see them.
func (c *Client) OtherNamespaces(ctx context.Context, pkg string) (names []string, err error) {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	for _, o := range all {
		if !copied(o) && packageOf(o) == pkg {
			names = append(names, o.GetNamespace())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// removeShared removes what operators of a namespace can share: catalogs and the OperatorGroup of
// operon, unless the namespace has another operator. Nothing is removed if the namespace never had
// the package.
func (c *Client) removeShared(ctx context.Context, r Removal, wasInstalled bool) (changed bool, err error) {
	existed, err := c.removeCatalog(ctx, r.Namespace, r.Package)
	if changed = wasInstalled || existed; err != nil {
		return changed, err
	}
	if !changed { // unless the command was interrupted
		if o, err := c.get(ctx, operators, "", r.Package+"."+r.Namespace); err != nil || o == nil {
			return false, err
		}
	}
	for _, kind := range []resource{csvs, subscriptions} {
		all, err := c.list(ctx, kind, r.Namespace, metav1.ListOptions{})
		if err != nil {
			return changed, err
		}
		if all = slices.DeleteFunc(all, copied); len(all) > 0 {
			return changed, nil
		}
	}
	groups, err := c.list(ctx, operatorGroups, r.Namespace, metav1.ListOptions{})
	if err != nil {
		return changed, err
	}
	for _, g := range groups {
		if r.Group && createdByOperon(g) || r.Groups {
			changed = true
			if _, err := c.remove(ctx, operatorGroups, r.Namespace, g.GetName()); err != nil {
				return true, err
			}
		}
	}
	if r.CRDs {
		err = c.removeOperator(ctx, r.Package, r.Namespace)
	}
	return changed, err
}

// removeOperator removes the Operator of a package, in which OLM lists its objects.
func (c *Client) removeOperator(ctx context.Context, pkg, namespace string) error {
	return c.removeUntilGone(ctx, func() (string, error) {
		existed, err := c.remove(ctx, operators, "", pkg+"."+namespace)
		if !existed {
			return "", err
		}
		return "OLM creates it again", err
	})
}

// removePlans removes the InstallPlans for ClusterServiceVersions, from which OLM would create
// them again.
func (c *Client) removePlans(ctx context.Context, namespace string, found installed) error {
	all, err := c.list(ctx, installPlans, namespace, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range all {
		names := jsonvalue.Strings(o.Object, "spec", "clusterServiceVersionNames")
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return found.csv(name) == nil }) {
			continue // it is also about another operator, or about none
		}
		if _, err := c.remove(ctx, installPlans, namespace, o.GetName()); err != nil {
			return err
		}
	}
	return nil
}
