package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/extension"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CatalogImage is a catalog in an image, from which OLM v1 installs. OLM v1 reads the catalog for as
// long as the operator is installed.
type CatalogImage struct {
	Bundle  string // reference of the bundle's image, by digest
	Ref     string // of the image, which the next upgrade uses too
	Account string // an existing ServiceAccount of the installer; "" creates one with the least permissions
	// Push puts the files of a catalog into an image in a registry, and returns its reference by digest.
	Push func(ctx context.Context, catalog []byte) (reference string, err error)
}

func (i CatalogImage) bundleImage() string { return i.Bundle }

// serve pushes the image.
func (i CatalogImage) serve(ctx context.Context, _ *task, _ string, catalog []byte) (reference string, err error) {
	return i.Push(ctx, catalog)
}

const (
	packageKey = "operon.dev/package"       // label of what operon creates for OLM v1
	imageKey   = "operon.dev/catalog-image" // annotation of a ClusterCatalog: the reference with the tag
)

// installExtension installs the bundle with OLM v1. changed is false if it is installed already.
func (c *Client) installExtension(ctx context.Context, o Options) (changed bool, err error) {
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle, v1: true}
	found, err := t.foundExtension(ctx)
	if err != nil {
		return false, err
	}
	if found != nil && createdByOperon(*found) {
		if found, err = t.restorePrevious(ctx, found); err != nil {
			return false, err
		}
	}
	switch {
	case found == nil:
	case !createdByOperon(*found):
		return false, fault.Usage("add the bundle to its catalog with operon catalog add; or delete it, together with its CRDs and their objects", "%s %s installs package %s", clusterExtensions.kind, found.GetName(), o.Bundle.Package())
	case installedBundle(found) == o.Bundle.Name():
		return false, t.settleExtension(ctx, found)
	case installedBundle(found) != "":
		return false, fault.Usage("upgrade it: operon run bundle-upgrade BUNDLE", "namespace %s has %s already", o.Namespace, installedBundle(found))
	default:
		if installed, err := t.resume(ctx, found); installed || err != nil {
			return err == nil, err
		}
	}
	objects, err := t.extensionObjects(ctx, o, "")
	if err != nil {
		return false, err
	}
	if err := t.applyExtension(ctx, objects); err != nil {
		return false, t.fail(ctx, err)
	}
	return true, nil
}

// resume handles a ClusterExtension of operon that reports no installed bundle. It removes one that
// never installed anything, which is what a killed command leaves, and waits for one that installs the
// bundle already. A missing report alone says nothing: OLM also clears it when it cannot read what is
// installed.
func (t *task) resume(ctx context.Context, found *unstructured.Unstructured) (installed bool, err error) {
	never, err := t.neverInstalled(ctx, found)
	if err != nil {
		return false, err
	}
	if never {
		if err := t.removeExtension(ctx, found.GetName(), found.GetUID()); err != nil {
			return false, err
		}
		_, err := t.removeInstaller(ctx, t.bundle.Package())
		return false, err
	}
	sum, err := digest(t.bundle)
	if err != nil {
		return false, err
	}
	if found.GetLabels()[digestKey] != sum {
		return false, unknownInstalled(found)
	}
	return true, t.extended(ctx)
}

// neverInstalled reports whether OLM says of the current spec that nothing is installed, and the cluster
// has no CRD of the ClusterExtension, whose objects would be lost with it.
func (t *task) neverInstalled(ctx context.Context, found *unstructured.Unstructured) (bool, error) {
	c := condition(found.Object, "Installed")
	if c["status"] != "False" || jsonvalue.Int(c, "observedGeneration") != found.GetGeneration() || installedBundle(found) != "" {
		return false, nil
	}
	owned, err := t.list(ctx, crds, "", ownedByExtension(found.GetName()))
	return err == nil && len(owned) == 0, err
}

// unknownInstalled is the error about a ClusterExtension that does not report what it has installed.
func unknownInstalled(found *unstructured.Unstructured) error {
	why := cmp.Or(
		oneLine(jsonvalue.String(condition(found.Object, "Progressing"), "message")),
		oneLine(jsonvalue.String(condition(found.Object, "Installed"), "message")),
		"its status has no message",
	)
	return fault.Failed("wait until OLM reports the installed version, and repeat the command: kubectl describe clusterextension "+found.GetName(),
		"OLM does not report what %s %s has installed: %s", clusterExtensions.kind, found.GetName(), why)
}

// foundExtension returns the ClusterExtension of the package, or nil. It is an error if that installs
// into another namespace, or if the namespace does not exist.
func (t *task) foundExtension(ctx context.Context) (*unstructured.Unstructured, error) {
	if err := t.requireNamespace(ctx, t.namespace); err != nil {
		return nil, err
	}
	all, err := t.extensionsOf(ctx, t.bundle.Package())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	where := jsonvalue.String(all[0].Object, "spec", "namespace")
	if where == t.namespace {
		return &all[0], nil
	}
	hint := "use -n " + where
	if o, err := t.get(ctx, namespaces, "", where); err != nil {
		return nil, err
	} else if o == nil {
		hint = "namespace " + where + " does not exist any more; remove what is left: operon cleanup " + t.bundle.Package() + " -n " + where
	}
	return nil, fault.Usage(hint, "%s %s installs package %s into namespace %s; OLM v1 installs it once for each cluster", clusterExtensions.kind, all[0].GetName(), t.bundle.Package(), where)
}

// extensionsOf returns the ClusterExtensions of a package.
func (c *Client) extensionsOf(ctx context.Context, pkg string) ([]unstructured.Unstructured, error) {
	all, err := c.list(ctx, clusterExtensions, "", metav1.ListOptions{})
	return slices.DeleteFunc(all, func(o unstructured.Unstructured) bool {
		return jsonvalue.String(o.Object, "spec", "source", "catalog", "packageName") != pkg
	}), err
}

// installedBundle returns the name of the bundle that a ClusterExtension has installed, or "".
func installedBundle(o *unstructured.Unstructured) string {
	return jsonvalue.String(o.Object, "status", "install", "bundle", "name")
}

// settleExtension waits until a bundle that is installed already works.
func (t *task) settleExtension(ctx context.Context, found *unstructured.Unstructured) error {
	want, err := digest(t.bundle)
	if err != nil {
		return err
	}
	if got := found.GetLabels()[digestKey]; got != "" && got != want {
		return otherManifests(t.bundle, t.namespace)
	}
	return t.extended(ctx)
}

// extensionObjects pushes the catalog, in which the bundle replaces another one or "", and returns the
// objects that install the bundle.
func (t *task) extensionObjects(ctx context.Context, o Options, replaces string) ([]unstructured.Unstructured, error) {
	watch, err := t.watched(ctx, o.Mode, modeHint(o, replaces))
	if err != nil {
		return nil, err
	}
	pkg, image := o.Bundle.Package(), o.Catalog.(CatalogImage)
	options := extension.Options{
		Name: pkg, Namespace: o.Namespace, Watch: watch, Version: o.Bundle.Version(),
		ServiceAccount: installerAccount(pkg), Catalog: objectName(pkg), CatalogImage: image.Ref, WatchHint: modeHint(o, replaces),
	}
	if image.Account != "" {
		options.ServiceAccount = image.Account
	}
	made, err := extension.Objects(o.Bundle, options)
	if err != nil {
		return nil, err
	}
	sum, err := digest(o.Bundle)
	if err != nil {
		return nil, err
	}
	var all []unstructured.Unstructured
	for _, fields := range made {
		one := unstructured.Unstructured{Object: fields}
		labels := Labels(pkg)
		switch one.GetKind() {
		case namespaces.kind: // the user's, as with OLM v0
			continue
		case clusterCatalogs.kind: // a webhook of OLM sets this label a moment later
			labels[groupV1+"/metadata.name"] = one.GetName()
			one.SetAnnotations(map[string]string{imageKey: image.Ref})
		case clusterExtensions.kind:
			labels[digestKey] = sum
		default:
			if image.Account != "" {
				continue
			}
		}
		one.SetLabels(labels)
		all = append(all, one)
	}
	return all, t.push(ctx, image, replaces, all)
}

// installerAccount returns the name of the ServiceAccount that operon creates for a package.
func installerAccount(pkg string) string { return pkg + "-installer" }

// applyExtension creates or changes the objects of a bundle, and waits until it is installed.
func (t *task) applyExtension(ctx context.Context, objects []unstructured.Unstructured) error {
	for _, o := range objects {
		if err := t.apply(ctx, o); err != nil {
			return err
		}
		if o.GetKind() == clusterCatalogs.kind {
			if err := t.served(ctx, jsonvalue.String(o.Object, "spec", "source", "image", "ref")); err != nil {
				return t.diagnoseExtension(ctx, err)
			}
		}
	}
	return t.extended(ctx)
}

// otherManifests is the error about a version that was installed from another bundle.
func otherManifests(b *bundle.Bundle, namespace string) error {
	return fault.Failed("remove it first: operon cleanup "+b.Package()+" -n "+namespace+"; or generate a new version, and use operon run bundle-upgrade",
		"%s is installed in namespace %s from other manifests", b.Name(), namespace)
}
