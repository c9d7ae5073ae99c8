package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// InstallOLM creates the objects in manifests of OLM: CRDs and namespaces first, then, when the
// API server serves the kinds, the others. It waits until all Deployments are available. It
// refuses a cluster that has another OLM, and changes nothing if a repeat finds all objects. What
// a failure leaves, UninstallOLM removes.
func (c *Client) InstallOLM(ctx context.Context, manifests []unstructured.Unstructured) (changed bool, err error) {
	manifests = slices.Clone(manifests)
	slices.SortStableFunc(manifests, func(a, b unstructured.Unstructured) int { return rank(a) - rank(b) })
	if err := c.refuseOtherOLM(ctx, manifests); err != nil {
		return false, err
	}
	for i, o := range manifests {
		if i > 0 && rank(manifests[i-1]) <= namespaceRank && rank(o) > namespaceRank {
			if err := c.waitEstablished(ctx, manifests[:i]); err != nil {
				return changed, err
			}
		}
		created, err := c.createManifest(ctx, o)
		if err != nil {
			return changed, err
		}
		changed = changed || created
	}
	if err := c.waitEstablished(ctx, manifests); err != nil {
		return changed, err
	}
	for _, o := range manifests {
		if o.GetKind() == deployments.kind {
			if err := c.waitAvailable(ctx, o.GetNamespace(), o.GetName()); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// namespaceRank is the rank of namespaces, after the rank of CRDs.
const namespaceRank = 2

// rank orders the objects of OLM: those that others need come first. The CRDs of OLM are the very
// first, so that they are the last ones to be deleted: by them, a repeat knows that it has to
// complete an interrupted removal.
func rank(o unstructured.Unstructured) int {
	switch {
	case isOLMCRD(o):
		return 0
	case o.GetKind() == crds.kind:
		return 1
	case o.GetKind() == namespaces.kind:
		return namespaceRank
	case o.GetKind() == deployments.kind:
		return 4
	case o.GroupVersionKind().Group == groupV0:
		return 5 // controllers act on them
	}
	return 3
}

func isOLMCRD(o unstructured.Unstructured) bool {
	return o.GetKind() == crds.kind && jsonvalue.String(o.Object, "spec", "group") == groupV0
}

// refuseOtherOLM returns an error if the cluster has CRDs of OLM that are not in the manifests, or
// that somebody else created.
func (c *Client) refuseOtherOLM(ctx context.Context, manifests []unstructured.Unstructured) error {
	existing, err := c.existingCRDs(ctx, manifests)
	if err != nil {
		return err
	}
	for _, o := range existing {
		if !createdByOperon(o) {
			return fault.Failed("see operon olm status; to remove it, name its manifests: operon olm uninstall SOURCE", "the cluster has another OLM: %s %s exists", crds.kind, o.GetName())
		}
	}
	return nil
}

// CheckManifests returns an error if manifests have no CRD of OLM.
func CheckManifests(manifests []unstructured.Unstructured) error {
	if slices.ContainsFunc(manifests, isOLMCRD) {
		return nil
	}
	return fault.Usage("name the manifests of a release of OLM v0; OLM v1 needs only kubectl apply", "the manifests have no CRD of %s", groupV0)
}

// existingCRDs returns the CRDs of OLM in manifests that the cluster has. It is an error if the
// manifests have no CRD of OLM.
func (c *Client) existingCRDs(
	ctx context.Context, manifests []unstructured.Unstructured,
) (existing []unstructured.Unstructured, err error) {
	if err := CheckManifests(manifests); err != nil {
		return nil, err
	}
	for _, m := range manifests {
		if !isOLMCRD(m) {
			continue
		}
		o, err := c.get(ctx, crds, "", m.GetName())
		if err != nil {
			return nil, err
		}
		if o != nil {
			existing = append(existing, *o)
		}
	}
	return existing, nil
}

// createManifest creates an object, unless it exists.
func (c *Client) createManifest(ctx context.Context, o unstructured.Unstructured) (created bool, err error) {
	client, where, err := c.forManifest(ctx, o)
	if err != nil {
		return false, err
	}
	o = *o.DeepCopy()
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[managedBy] = operon
	o.SetLabels(labels)
	_, err = c.client(client, where).Create(ctx, &o, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return false, nil
	case err != nil:
		return false, explain(ctx, fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err))
	}
	c.Note("created %s %s", o.GetKind(), o.GetName())
	return true, nil
}

// forManifest returns the resource of an object and its namespace.
func (c *Client) forManifest(ctx context.Context, o unstructured.Unstructured) (r resource, namespace string, err error) {
	gvr, namespaced, err := c.Resource(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return r, "", explain(ctx, err)
	}
	if namespaced {
		if namespace = o.GetNamespace(); namespace == "" {
			namespace = metav1.NamespaceDefault
		}
	}
	return resource{gvr, o.GetKind()}, namespace, nil
}

// waitEstablished waits until the API server serves the CRDs in manifests.
func (c *Client) waitEstablished(ctx context.Context, manifests []unstructured.Unstructured) error {
	for _, m := range manifests {
		if m.GetKind() != crds.kind {
			continue
		}
		err := c.until(ctx, func() (bool, string, error) {
			o, err := c.get(ctx, crds, "", m.GetName())
			if err != nil || o == nil {
				return false, "", err
			}
			return condition(o.Object, "Established")["status"] == "True", "the API server does not serve " + m.GetName(), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waitAvailable waits until a Deployment is available.
func (c *Client) waitAvailable(ctx context.Context, namespace, name string) error {
	return c.until(ctx, func() (bool, string, error) {
		o, err := c.get(ctx, deployments, namespace, name)
		if err != nil || o == nil {
			return false, "", err
		}
		available := condition(o.Object, "Available")
		return available["status"] == "True", fmt.Sprintf("Deployment %s is not available: %s", name, jsonvalue.String(available, "message")), nil
	})
}

// UninstallOLM removes the objects in manifests of OLM, in the reverse order. It refuses while
// operators are installed, unless their ClusterServiceVersions are in the manifests. Nothing is removed
// if the cluster does not have the CRDs of OLM.
func (c *Client) UninstallOLM(ctx context.Context, manifests []unstructured.Unstructured) (changed bool, err error) {
	manifests = slices.Clone(manifests)
	slices.SortStableFunc(manifests, func(a, b unstructured.Unstructured) int { return rank(a) - rank(b) })
	existing, err := c.existingCRDs(ctx, manifests)
	if err != nil || len(existing) == 0 {
		return false, err
	}
	if err := c.refuseInstalledOperators(ctx, manifests); err != nil {
		return false, err
	}
	for _, o := range slices.Backward(manifests) {
		r, namespace, err := c.forManifest(ctx, o)
		if isUnknownKind(err) {
			continue // its kind is gone, and so are its objects
		}
		if err != nil {
			return changed, err
		}
		existed, err := c.remove(ctx, r, namespace, o.GetName())
		if err != nil {
			return changed, err
		}
		changed = changed || existed
	}
	return changed, nil
}

// refuseInstalledOperators returns an error if OLM manages operators that are not in the manifests.
func (c *Client) refuseInstalledOperators(ctx context.Context, manifests []unstructured.Unstructured) error {
	all, err := c.list(ctx, csvs, "", metav1.ListOptions{})
	if err != nil {
		return err
	}
	var used []string
	for _, o := range all {
		own := slices.ContainsFunc(manifests, func(m unstructured.Unstructured) bool {
			return m.GetKind() == csvs.kind && m.GetNamespace() == o.GetNamespace() && m.GetName() == o.GetName()
		})
		if !own && !copied(o) {
			used = append(used, o.GetNamespace()+"/"+o.GetName())
		}
	}
	if len(used) > 0 {
		return fault.Failed("remove them first: operon cleanup PACKAGE -n NAMESPACE", "OLM has operators: %s", strings.Join(used, ", "))
	}
	return nil
}
