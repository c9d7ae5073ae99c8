package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
)

// Options say what to install.
type Options struct {
	Bundle    *bundle.Bundle
	Namespace string
	Mode      Mode // the zero Mode means the one of the namespace, or the widest one
	Catalog   Catalog
	Secret    string // for pulling the image of the bundle; "" for none
}

// Catalog is the way in which the catalog with the bundle reaches OLM: a Pod, or Local.
type Catalog interface {
	// bundleImage returns the reference of the bundle's image, or "" if the catalog has its manifests.
	bundleImage() string
	// serve makes the catalog available while ctx lasts, and returns the address for OLM.
	serve(ctx context.Context, t *task, name string, catalog []byte) (address string, err error)
}

// Install installs the bundle. The catalog and the Subscription exist only until it is installed.
// changed is false if it is installed already. After a failure, it removes what it has created.
func (c *Client) Install(ctx context.Context, o Options) (changed bool, err error) {
	pkg := o.Bundle.Package()
	found, present, err := c.findBundle(ctx, o)
	if err != nil || present {
		return false, err
	}
	if len(found.csvs) > 0 {
		return false, fault.Usage("upgrade it: operon run bundle-upgrade BUNDLE", "namespace %s has %s already", o.Namespace, found.names())
	}
	for _, s := range found.subscriptions {
		if !createdByOperon(s) {
			return false, fault.Usage("wait for it, or delete it", "Subscription %s in namespace %s installs package %s", s.GetName(), o.Namespace, pkg)
		}
	}
	if err := c.removeLeftovers(ctx, o.Namespace, pkg, found); err != nil {
		return false, err
	}
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle}
	defer t.end()
	if err := t.ensureOperatorGroup(ctx, o.Mode); err != nil {
		return false, t.fail(ctx, err)
	}
	removeOperator := func(ctx context.Context) error { return t.removeOperator(ctx, pkg, o.Namespace) }
	t.undo = slices.Insert(t.undo, 0, undo{"Operator " + pkg + "." + o.Namespace, removeOperator})
	if err := t.install(ctx, o); err != nil {
		return false, t.fail(ctx, err)
	}
	return true, nil
}

// findBundle finds what the namespace has of the package. If it has the bundle, it waits until that works.
func (c *Client) findBundle(ctx context.Context, o Options) (found installed, present bool, err error) {
	if found, err = c.installed(ctx, o.Namespace, o.Bundle.Package()); err != nil {
		return found, false, err
	}
	present, err = found.present(o.Bundle, o.Namespace)
	if err == nil && present {
		err = c.ensureReady(ctx, o, found)
	}
	return found, present, err
}

// ensureReady waits until a bundle that is installed already works, and removes what a killed command
// left. OLM installs some parts again after an upgrade.
func (c *Client) ensureReady(ctx context.Context, o Options, found installed) error {
	if err := c.removeLeftovers(ctx, o.Namespace, o.Bundle.Package(), found); err != nil {
		return err
	}
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle}
	if err := t.waitSucceeded(ctx); err != nil {
		return t.diagnose(ctx, "", "", err)
	}
	return nil
}

// install creates the objects for the bundle, and waits until it is installed.
func (t *task) install(ctx context.Context, o Options) error {
	name := objectName(t.bundle.Package())
	channel, err := t.catalog(ctx, o, name, "")
	if err != nil {
		return err
	}
	if err := t.subscribe(ctx, name, t.subscription(name, channel)); err != nil {
		return err
	}
	if err := t.complete(ctx, name); err != nil {
		return err
	}
	return t.removeTemporary(ctx, name)
}

// subscribe creates a Subscription.
func (t *task) subscribe(ctx context.Context, name string, spec map[string]any) error {
	t.detach = func(ctx context.Context) error {
		_, err := t.remove(ctx, subscriptions, t.namespace, name)
		return err
	}
	return t.add(ctx, subscriptions, name, map[string]any{"spec": spec})
}

// subscription returns the spec of a Subscription to the catalog of operon.
func (t *task) subscription(catalog, channel string) map[string]any {
	return map[string]any{
		"name": t.bundle.Package(), "channel": channel, "source": catalog, "sourceNamespace": t.namespace,
		"startingCSV": t.bundle.Name(), "installPlanApproval": "Manual",
	}
}

// catalog creates a catalog with the bundle alone, waits until OLM has connected to it, and
// returns the bundle's channel. The bundle replaces another one, or "".
func (t *task) catalog(ctx context.Context, o Options, name, replaces string) (channel string, err error) {
	t.image = o.Catalog.bundleImage()
	content, channel, err := t.content(o.Catalog, replaces)
	if err != nil {
		return "", err
	}
	address, err := o.Catalog.serve(ctx, t, name, content)
	if err != nil {
		return "", err
	}
	spec := map[string]any{"sourceType": "grpc", "address": address, "displayName": t.bundle.Name(), "publisher": operon}
	if o.Secret != "" {
		spec["secrets"] = []any{o.Secret}
	}
	if err := t.add(ctx, catalogSources, name, map[string]any{"spec": spec}); err != nil {
		return "", err
	}
	return channel, t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, catalogSources, t.namespace, name)
		if err != nil || o == nil {
			return false, "", err
		}
		state := jsonvalue.String(o.Object, "status", "connectionState", "lastObservedState")
		return state == "READY", fmt.Sprintf("OLM connects to the catalog at %s (state %q)", address, state), nil
	})
}

// content returns a catalog with the bundle alone, which replaces another one, or "", and its channel.
func (t *task) content(c Catalog, replaces string) (content []byte, channel string, err error) {
	rendered, err := catalog.FromBundle(t.bundle, c.bundleImage())
	if err != nil {
		return nil, "", err
	}
	channel = operon
	if all := t.bundle.Channels(); len(all) > 0 {
		channel = all[0]
	}
	pkg := t.bundle.Package()
	content, err = catalog.JSON([]any{
		catalog.Package{Schema: catalog.SchemaPackage, Name: pkg, DefaultChannel: channel},
		catalog.Channel{
			Schema: catalog.SchemaChannel, Package: pkg, Name: channel,
			Entries: []catalog.Entry{{Name: t.bundle.Name(), Replaces: replaces}},
		},
		rendered.Bundle,
	})
	return content, channel, err
}

// removeTemporary removes the Subscription and the catalog, which the operator does not need. A catalog that
// is not served would keep OLM from resolving other Subscriptions in the namespace.
func (t *task) removeTemporary(ctx context.Context, name string) error {
	if _, err := t.remove(ctx, subscriptions, t.namespace, name); err != nil {
		return err
	}
	_, err := t.removeCatalog(ctx, t.namespace, t.bundle.Package())
	return err
}
