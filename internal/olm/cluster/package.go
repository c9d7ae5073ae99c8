package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digestKey is the label of a ClusterServiceVersion with the digest of the bundle from which
// operon installed it. It is no annotation, because OLM copies these to pods, and restarts them.
const digestKey = "operon.dev/bundle-digest"

// digest returns the digest of what OLM installs from a bundle, as the value of a label.
func digest(b *bundle.Bundle) (string, error) {
	content, err := json.Marshal(b.Manifests)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16]), nil // labels have at most 63 characters
}

// installed are the objects of a package in a namespace.
type installed struct {
	csvs          []unstructured.Unstructured // without copies from other namespaces
	subscriptions []unstructured.Unstructured
}

// installed finds what a namespace has of a package. It is an error if the namespace does not exist.
func (c *Client) installed(ctx context.Context, namespace, pkg string) (found installed, err error) {
	if err := c.requireNamespace(ctx, namespace); err != nil {
		return found, err
	}
	return c.ofPackage(ctx, namespace, pkg)
}

// ofPackage finds what a namespace has of a package, if it exists.
func (c *Client) ofPackage(ctx context.Context, namespace, pkg string) (found installed, err error) {
	subs, err := c.list(ctx, subscriptions, namespace, metav1.ListOptions{})
	if err != nil {
		return found, err
	}
	named := map[string]bool{}
	for _, s := range subs {
		if jsonvalue.String(s.Object, "spec", "name") == pkg {
			found.subscriptions = append(found.subscriptions, s)
			named[jsonvalue.String(s.Object, "status", "installedCSV")] = true
			named[jsonvalue.String(s.Object, "status", "currentCSV")] = true
		}
	}
	all, err := c.list(ctx, csvs, namespace, metav1.ListOptions{})
	if err != nil {
		return found, err
	}
	for _, o := range all {
		if copied(o) {
			continue
		}
		if named[o.GetName()] || packageOf(o) == pkg {
			found.csvs = append(found.csvs, o)
		}
	}
	return found, nil
}

// requireNamespace returns an error if a namespace does not exist.
func (c *Client) requireNamespace(ctx context.Context, name string) error {
	o, err := c.get(ctx, namespaces, "", name)
	if err == nil && o == nil {
		return fault.Usage("check --namespace; to create it: kubectl create namespace "+name, "namespace %s does not exist", name)
	}
	return err
}

// RequireOLM returns an error if the cluster does not have OLM v0. The hint is for users who have OLM v1.
func (c *Client) RequireOLM(ctx context.Context, hintV1 string) error {
	v0, err := c.serves(ctx, subscriptions)
	if err != nil || v0 {
		return err
	}
	v1, err := c.serves(ctx, clusterExtensions)
	switch {
	case err != nil:
		return err
	case v1:
		return fault.Failed(hintV1, "the cluster has only OLM v1, for which operon prints manifests")
	}
	return fault.Failed("install it: operon olm install SOURCE", "the cluster has no Operator Lifecycle Manager")
}

// serves reports whether a cluster has the CRD of a kind. Users who may not read CRDs learn of kinds
// that the API server serves.
func (c *Client) serves(ctx context.Context, r resource) (bool, error) {
	o, err := c.get(ctx, crds, "", r.Resource+"."+r.Group)
	if !apierrors.IsForbidden(err) {
		return o != nil && err == nil, err
	}
	_, _, err = c.Resource(ctx, r.GroupVersion().String(), r.kind)
	if isUnknownKind(err) {
		return false, nil
	}
	return err == nil, explain(ctx, err)
}

// copied reports whether OLM copied a ClusterServiceVersion from the operator's namespace.
func copied(csv unstructured.Unstructured) bool {
	_, ok := csv.GetLabels()["olm.copiedFrom"]
	return ok || jsonvalue.String(csv.Object, "status", "reason") == "Copied"
}

// packageOf returns the package of a ClusterServiceVersion, which OLM notes in an annotation when
// it installs from a catalog.
func packageOf(csv unstructured.Unstructured) string {
	var properties struct {
		Properties []struct {
			Type  string
			Value json.RawMessage
		}
	}
	_ = json.Unmarshal([]byte(csv.GetAnnotations()["operatorframework.io/properties"]), &properties)
	for _, p := range properties.Properties {
		var value struct{ PackageName string }
		if p.Type == "olm.package" && json.Unmarshal(p.Value, &value) == nil {
			return value.PackageName
		}
	}
	return ""
}

// csv returns the ClusterServiceVersion of a name, or nil.
func (i installed) csv(name string) *unstructured.Unstructured {
	for _, o := range i.csvs {
		if o.GetName() == name {
			return &o
		}
	}
	return nil
}

// names returns the names of the ClusterServiceVersions.
func (i installed) names() string {
	var names []string
	for _, o := range i.csvs {
		names = append(names, o.GetName())
	}
	return strings.Join(names, ", ")
}

// createdByOperon reports whether operon created an object.
func createdByOperon(o unstructured.Unstructured) bool { return o.GetLabels()[managedBy] == operon }

// present reports whether a bundle is installed already. It is an error if the namespace has
// its ClusterServiceVersion from other manifests, or one that has failed.
func (i installed) present(b *bundle.Bundle, namespace string) (bool, error) {
	o := i.csv(b.Name())
	if o == nil {
		return false, nil
	}
	if phase := jsonvalue.String(o.Object, "status", "phase"); phase == "Failed" {
		return false, fault.Failed("remove it: operon cleanup "+b.Package()+" -n "+namespace, "%s is in namespace %s, and has failed: %s", b.Name(), namespace, jsonvalue.String(o.Object, "status", "message"))
	}
	want, err := digest(b)
	if err != nil {
		return false, err
	}
	if got := o.GetLabels()[digestKey]; got != "" && got != want {
		return false, otherManifests(b, namespace)
	}
	return true, nil
}

// otherManifests is the error about a version that was installed from another bundle.
func otherManifests(b *bundle.Bundle, namespace string) error {
	return fault.Failed("remove it first: operon cleanup "+b.Package()+" -n "+namespace+"; or generate a new version, and use operon run bundle-upgrade",
		"%s is installed in namespace %s from other manifests", b.Name(), namespace)
}
