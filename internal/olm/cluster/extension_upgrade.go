package cluster

import (
	"context"
	"errors"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// upgradeExtension makes OLM v1 upgrade an operator to the version in the bundle. changed is false if
// the version is installed already. After a failure, OLM installs the previous version again.
func (c *Client) upgradeExtension(ctx context.Context, o Options) (changed bool, err error) {
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle, v1: true}
	found, err := t.upgradable(ctx)
	if err != nil {
		return false, err
	}
	previous := installedBundle(found)
	if previous == o.Bundle.Name() {
		return false, t.settleExtension(ctx, found)
	}
	if err := checkOrder(jsonvalue.String(found.Object, "status", "install", "bundle", "version"), o.Bundle.Version()); err != nil {
		return false, err
	}
	if watched := jsonvalue.String(found.Object, "spec", "config", "inline", "watchNamespace"); watched != "" {
		o.Mode = modeOf([]string{watched}, o.Namespace)
	}
	if o.Catalog, err = t.sameAccount(ctx, o, found); err != nil {
		return false, err
	}
	objects, err := t.extensionObjects(ctx, o, previous)
	if err != nil {
		return false, err
	}
	if err := t.replaceExtension(ctx, objects, found); err != nil {
		return false, t.fail(ctx, err)
	}
	if err := t.recordPrevious(ctx, found, nil); err != nil {
		return true, err
	}
	for _, object := range objects {
		if isRole(object) { // now without what only the previous version needed
			if err := t.apply(ctx, object); err != nil {
				return true, err
			}
		}
	}
	return true, t.removeUnused(ctx, objects)
}

// sameAccount returns the catalog with the ServiceAccount of the installed version, which OLM does not let
// change: "" for the one of operon.
func (t *task) sameAccount(ctx context.Context, o Options, found *unstructured.Unstructured) (Catalog, error) {
	image, _ := o.Catalog.(CatalogImage)
	name := jsonvalue.String(found.Object, "spec", "serviceAccount", "name")
	if name == "" {
		return image, nil
	}
	if image.Account != "" && image.Account != name {
		return nil, fault.Usage("leave out --service-account", "%s %s uses ServiceAccount %s, which cannot change", clusterExtensions.kind, found.GetName(), name)
	}
	image.Account = name
	if name == installerAccount(t.bundle.Package()) {
		account, err := t.get(ctx, serviceAccounts, t.namespace, name)
		if err != nil {
			return nil, err
		}
		if account == nil || createdByOperon(*account) {
			image.Account = ""
		}
	}
	return image, nil
}

// removeUnused removes what only the previous version needed, such as a role in a namespace that the
// operator does not watch any more.
func (t *task) removeUnused(ctx context.Context, objects []unstructured.Unstructured) error {
	for _, r := range installerKinds {
		all, err := t.installerObjects(ctx, r, t.bundle.Package())
		if err != nil {
			return err
		}
		for _, o := range all {
			used := slices.ContainsFunc(objects, func(next unstructured.Unstructured) bool {
				return next.GetKind() == r.kind && next.GetNamespace() == o.GetNamespace() && next.GetName() == o.GetName()
			})
			if used {
				continue
			}
			if err := t.removeObject(ctx, r, &o); err != nil {
				return err
			}
		}
	}
	return nil
}

// upgradable returns the ClusterExtension of the package. It is an error if it cannot be upgraded.
func (t *task) upgradable(ctx context.Context) (*unstructured.Unstructured, error) {
	found, err := t.foundExtension(ctx)
	pkg := t.bundle.Package()
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		if err := t.refuseOperatorOfV0(ctx, t.bundle); err != nil {
			return nil, err
		}
		return nil, fault.Usage("install it: operon run bundle BUNDLE", "package %s is not installed in namespace %s", pkg, t.namespace)
	case !createdByOperon(*found):
		return nil, fault.Usage("add the bundle to its catalog: operon catalog add", "%s %s uses another catalog than that of operon", clusterExtensions.kind, found.GetName())
	}
	if found, err = t.restorePrevious(ctx, found); err != nil || installedBundle(found) != "" {
		return found, err
	}
	never, err := t.neverInstalled(ctx, found)
	if never {
		err = fault.Usage("install it: operon run bundle BUNDLE", "%s %s has installed nothing that could be upgraded", clusterExtensions.kind, found.GetName())
	} else if err == nil {
		err = unknownInstalled(found)
	}
	return nil, err
}

// replaceExtension gives the objects of the previous version the content for the bundle, and waits until
// that is installed.
func (t *task) replaceExtension(ctx context.Context, objects []unstructured.Unstructured, found *unstructured.Unstructured) error {
	catalog, err := t.get(ctx, clusterCatalogs, "", objectName(t.bundle.Package()))
	if err != nil {
		return err
	}
	if catalog == nil {
		return noCatalog(objectName(t.bundle.Package()))
	}
	var rest []unstructured.Unstructured
	for _, o := range objects {
		switch {
		case o.GetKind() == clusterCatalogs.kind, o.GetKind() == clusterExtensions.kind:
			rest = append(rest, o)
			continue
		case isRole(o): // the installer also removes what only the previous version has
			if o, err = t.withPreviousRules(ctx, o); err != nil {
				return err
			}
		}
		if err := t.apply(ctx, o); err != nil {
			return err
		}
	}
	t.undo = append(t.undo, undo{clusterExtensions.kind + " " + found.GetName(), func(ctx context.Context) error {
		return t.reinstall(ctx, found, catalog)
	}})
	if err := t.recordPrevious(ctx, found, catalog); err != nil {
		return err
	}
	for _, o := range rest {
		if o.GetKind() == clusterExtensions.kind {
			err = t.change(ctx, clusterExtensions, o)
		} else if err = t.change(ctx, clusterCatalogs, o); err == nil {
			err = t.served(ctx, jsonvalue.String(o.Object, "spec", "source", "image", "ref"))
		}
		if err != nil {
			return t.diagnoseExtension(ctx, err)
		}
	}
	return t.extended(ctx)
}

func isRole(o unstructured.Unstructured) bool {
	return o.GetKind() == "ClusterRole" || o.GetKind() == roles.kind
}

// withPreviousRules returns a role that also has the rules that it has in the cluster.
func (t *task) withPreviousRules(ctx context.Context, o unstructured.Unstructured) (unstructured.Unstructured, error) {
	r, namespace, err := t.forManifest(ctx, o)
	if err != nil {
		return o, err
	}
	now, err := t.get(ctx, r, namespace, o.GetName())
	if err != nil || now == nil {
		return o, err
	}
	both := o.DeepCopy()
	rules, _ := o.Object["rules"].([]any)
	more, _ := now.Object["rules"].([]any)
	both.Object["rules"] = slices.Concat(rules, more)
	return *both, nil
}

// selfCertified is the policy that lets OLM go back to an earlier version.
const selfCertified = "SelfCertified"

// reinstall makes OLM install the previous version again. OLM does not go back to an earlier version
// unless the ClusterExtension says so, and then also compares the CRDs.
func (t *task) reinstall(ctx context.Context, extension, catalog *unstructured.Unstructured) error {
	if err := t.restore(ctx, previousObject{clusterCatalogs, catalog}); err != nil {
		return err
	}
	if err := t.served(ctx, jsonvalue.String(catalog.Object, "spec", "source", "image", "ref")); err != nil {
		return err
	}
	back := extension.DeepCopy()
	for _, f := range []struct {
		value string
		path  []string
	}{
		{selfCertified, []string{"spec", "source", "catalog", "upgradeConstraintPolicy"}},
		{"None", []string{"spec", "install", "preflight", "crdUpgradeSafety", "enforcement"}},
	} {
		if err := unstructured.SetNestedField(back.Object, f.value, f.path...); err != nil {
			return err
		}
	}
	if err := t.change(ctx, clusterExtensions, *back); err != nil {
		return err
	}
	name := installedBundle(extension)
	failed := t.until(ctx, func() (bool, string, error) {
		o, err := t.extension(ctx)
		if err != nil || o == nil {
			return false, "", err
		}
		return isInstalled(o, name) && condition(o.Object, "Progressing")["reason"] == reasonSucceeded, "OLM installs " + name + " again", nil
	})
	if failed == nil {
		t.Note("%s is installed again", name)
	}
	ctx, cancel := t.undoContext(ctx) // the policies must not stay
	defer cancel()
	return errors.Join(failed, t.restore(ctx, previousObject{clusterExtensions, extension}))
}
