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

var roleBindings = v1("rbac.authorization.k8s.io", "rolebindings", "RoleBinding")

// ownedByLabel are the kinds in the cluster that OLM creates for a ClusterServiceVersion.
var ownedByLabel = []resource{
	v1("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
	v1("rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding"),
	v1("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
	v1("admissionregistration.k8s.io", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
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
		isOwn := func(s map[string]any) bool { return s["namespace"] == csv.GetNamespace() }
		own := slices.ContainsFunc(jsonvalue.Maps(o.Object, "subjects"), isOwn)
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

// ownedCRDs returns the names of the CRDs that only these ClusterServiceVersions own, and no
// ClusterExtension.
func (c *Client) ownedCRDs(ctx context.Context, found installed) (names []string, err error) {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	shared := map[string]bool{}
	for _, o := range all {
		if copied(o) || slices.ContainsFunc(found.csvs, func(own unstructured.Unstructured) bool { return own.GetUID() == o.GetUID() }) {
			continue
		}
		for _, name := range ownedByCSV(o.Object) {
			shared[name] = true
		}
	}
	extended, err := c.list(ctx, crds, "", metav1.ListOptions{LabelSelector: "olm.operatorframework.io/owner-kind"})
	if err != nil {
		return nil, err
	}
	for _, o := range extended { // OLM v1 has installed it
		shared[o.GetName()] = true
	}
	for _, o := range found.csvs {
		for _, name := range ownedByCSV(o.Object) {
			if !shared[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// ownedByCSV returns the names of the CRDs that a ClusterServiceVersion owns.
func ownedByCSV(csv map[string]any) (names []string) {
	for _, d := range jsonvalue.Maps(csv, "spec", "customresourcedefinitions", "owned") {
		names = append(names, jsonvalue.String(d, "name"))
	}
	return names
}

// removeCustomResources deletes all objects of a CRD, and waits until they are gone.
func (c *Client) removeCustomResources(ctx context.Context, crd string) error {
	o, err := c.get(ctx, crds, "", crd)
	if err != nil || o == nil {
		return err
	}
	spec := jsonvalue.Map(o.Object, "spec")
	r := resource{schema.GroupVersionResource{
		Group: jsonvalue.String(spec, "group"), Resource: jsonvalue.String(spec, "names", "plural"),
	}, jsonvalue.String(spec, "names", "kind")}
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
