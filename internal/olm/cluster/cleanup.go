package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// OtherNamespaces returns the other namespaces that have a package.
func (c *Client) OtherNamespaces(ctx context.Context, pkg string) (names []string, err error) {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{})
	for _, o := range all {
		if !copied(o) && packageOf(o) == pkg {
			names = append(names, o.GetNamespace())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// ownedCRDs returns the names of the CRDs that only these ClusterServiceVersions own.
func (c *Client) ownedCRDs(ctx context.Context, found installed) (names []string, err error) {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	others := map[string]bool{}
	for _, o := range all {
		if copied(o) || slices.ContainsFunc(found.csvs, func(own unstructured.Unstructured) bool { return own.GetUID() == o.GetUID() }) {
			continue
		}
		for _, d := range jsonvalue.Maps(o.Object, "spec", "customresourcedefinitions", "owned") {
			others[jsonvalue.String(d, "name")] = true
		}
	}
	for _, o := range found.csvs {
		for _, d := range jsonvalue.Maps(o.Object, "spec", "customresourcedefinitions", "owned") {
			if name := jsonvalue.String(d, "name"); !others[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
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

// removeCSV removes a ClusterServiceVersion with its copies, Deployments, roles and webhooks. OLM
// and the garbage collector remove most of them.
func (c *Client) removeCSV(ctx context.Context, o unstructured.Unstructured) error {
	if err := c.removeUntilGone(ctx, func() (string, error) { return c.deleteObjectsOf(ctx, o) }); err != nil {
		return err
	}
	return c.removeAuthReaders(ctx, o)
}

// removeAuthReaders removes the RoleBindings in kube-system that OLM makes for the servers of
// webhooks and APIs, and leaves.
func (c *Client) removeAuthReaders(ctx context.Context, csv unstructured.Unstructured) error {
	for _, d := range jsonvalue.Maps(csv.Object, "spec", "install", "spec", "deployments") {
		name := strings.ReplaceAll(jsonvalue.String(d, "name"), ".", "-") + "-service-auth-reader"
		o, err := c.get(ctx, roleBindings, metav1.NamespaceSystem, name)
		if err != nil {
			return err
		}
		if o == nil || o.GetLabels()["olm.managed"] != "true" {
			continue
		}
		own := slices.ContainsFunc(jsonvalue.Maps(o.Object, "subjects"), func(s map[string]any) bool { return s["namespace"] == csv.GetNamespace() })
		if own {
			if _, err := c.remove(ctx, roleBindings, metav1.NamespaceSystem, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteObjectsOf says what is left of a ClusterServiceVersion, or "", and deletes what it can.
func (c *Client) deleteObjectsOf(ctx context.Context, csv unstructured.Unstructured) (left string, err error) {
	if existed, err := c.remove(ctx, csvs, csv.GetNamespace(), csv.GetName()); existed || err != nil {
		return "OLM creates " + csv.GetName() + " again", err // from an InstallPlan that it still executes
	}
	for _, d := range jsonvalue.Maps(csv.Object, "spec", "install", "spec", "deployments") {
		o, err := c.get(ctx, deployments, csv.GetNamespace(), jsonvalue.String(d, "name"))
		if err != nil {
			return "", err
		}
		if o != nil && ownedBy(*o, csv) {
			return "Deployment " + o.GetName() + " is being deleted", nil
		}
	}
	selector := "olm.owner=" + csv.GetName() + ",olm.owner.namespace=" + csv.GetNamespace()
	for _, r := range ownedByLabel {
		all, err := c.list(ctx, r, "", metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return "", err
		}
		for _, o := range all {
			left = r.kind + " " + o.GetName() + " is being deleted"
			if err := c.client(r, o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return left, explain(ctx, err)
			}
		}
	}
	copies, err := c.list(ctx, csvs, "", metav1.ListOptions{LabelSelector: "olm.copiedFrom=" + csv.GetNamespace()})
	for _, o := range copies {
		if o.GetName() == csv.GetName() {
			left = "OLM deletes the copies of " + csv.GetName()
		}
	}
	return left, err
}

// ownedBy reports whether an object belongs to a ClusterServiceVersion, or to an earlier one of this
// name. During an upgrade, Deployments can still belong to the previous version.
func ownedBy(o, csv unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.Kind == csvs.kind && r.Name == csv.GetName()
	})
}

// removeBundleRoles removes the roles in files of a bundle, which OLM leaves. Their label does not
// have the namespace, so they stay if another namespace has the same ClusterServiceVersion.
func (c *Client) removeBundleRoles(ctx context.Context, csv string) error {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{FieldSelector: "metadata.name=" + csv})
	if err != nil || len(slices.DeleteFunc(all, copied)) > 0 {
		return err
	}
	for _, r := range ownedByLabel[:2] {
		left, err := c.list(ctx, r, "", metav1.ListOptions{LabelSelector: "olm.owner=" + csv + ",olm.managed=true,!olm.owner.namespace"})
		if err != nil {
			return err
		}
		for _, o := range left {
			if _, err := c.remove(ctx, r, "", o.GetName()); err != nil {
				return err
			}
		}
	}
	return nil
}

var roleBindings = resource{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}, "RoleBinding"}

// ownedByLabel are the kinds in the cluster that OLM creates for a ClusterServiceVersion.
var ownedByLabel = []resource{
	{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}, "ClusterRole"},
	{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}, "ClusterRoleBinding"},
	{schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}, "MutatingWebhookConfiguration"},
	{schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}, "ValidatingWebhookConfiguration"},
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
		if slices.ContainsFunc(names, func(name string) bool { return found.csv(name) == nil }) {
			continue // it is about another operator
		}
		if _, err := c.remove(ctx, installPlans, namespace, o.GetName()); err != nil {
			return err
		}
	}
	return nil
}
