package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/olm/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Options say what to install.
type Options struct {
	Bundle    *bundle.Bundle
	Namespace string
	Mode      Mode // the zero Mode means the one of the namespace, or the widest one
	Catalog   Catalog
	Secret    string // for pulling the image of the bundle; "" for none
}

// Catalog is the way in which the catalog with the bundle reaches OLM.
type Catalog interface {
	// bundleImage returns the reference of the bundle's image, or "" if the catalog has its manifests.
	bundleImage() string
	// serve makes the catalog available while ctx lasts, and returns the address for OLM.
	serve(ctx context.Context, t *task, name string, c registry.Content) (address string, err error)
}

// Install installs the bundle, with a catalog and a Subscription that exist only until it is
// installed. changed is false if it is installed already. After a failure, it removes what it has
// created.
func (c *Client) Install(ctx context.Context, o Options) (changed bool, err error) {
	pkg := o.Bundle.Package()
	found, err := c.installed(ctx, o.Namespace, pkg)
	if err != nil {
		return false, err
	}
	present, err := found.present(o.Bundle, o.Namespace)
	switch {
	case err != nil:
		return false, err
	case present:
		return false, c.settle(ctx, o, found)
	case len(found.csvs) > 0:
		return false, fault.Usage("upgrade it: operon run bundle-upgrade BUNDLE", "namespace %s has %s already", o.Namespace, found.names())
	}
	for _, s := range found.subscriptions {
		if !ours(s) {
			return false, fault.Usage("wait for it, or delete it", "Subscription %s in namespace %s installs package %s", s.GetName(), o.Namespace, pkg)
		}
	}
	if err := c.removeLeftovers(ctx, o.Namespace, found); err != nil {
		return false, err
	}
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle}
	t.undo = append(t.undo, undo{"Operator " + pkg + "." + o.Namespace, func(ctx context.Context) error { return t.removeOperator(ctx, pkg, o.Namespace) }})
	defer t.end()
	if err := t.install(ctx, o); err != nil {
		return false, t.fail(ctx, err)
	}
	return true, nil
}

// settle waits until a bundle that is installed already works, and removes what a killed command
// left. OLM installs some parts again after an upgrade.
func (c *Client) settle(ctx context.Context, o Options, found installed) error {
	if err := c.removeLeftovers(ctx, o.Namespace, found); err != nil {
		return err
	}
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle}
	if err := t.succeed(ctx); err != nil {
		return t.diagnose(ctx, "", "", err)
	}
	return nil
}

// removeLeftovers removes the Subscription and the catalog of a command that was killed.
func (c *Client) removeLeftovers(ctx context.Context, namespace string, found installed) error {
	for _, s := range found.subscriptions {
		if !ours(s) {
			continue
		}
		if _, err := c.remove(ctx, subscriptions, namespace, s.GetName()); err != nil {
			return err
		}
		if err := c.removeCatalog(ctx, namespace, s.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// install creates the objects for the bundle, and waits until it is installed.
func (t *task) install(ctx context.Context, o Options) error {
	if err := t.group(ctx, o.Mode); err != nil {
		return err
	}
	name := operon + "-" + t.bundle.Package()
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
	return t.tidy(ctx, name)
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
	rendered, err := catalog.FromBundle(t.bundle, o.Catalog.bundleImage())
	if err != nil {
		return "", err
	}
	channel = operon
	if all := t.bundle.Channels(); len(all) > 0 {
		channel = all[0]
	}
	pkg := t.bundle.Package()
	content := registry.Content{
		Package: catalog.Package{Schema: catalog.SchemaPackage, Name: pkg, DefaultChannel: channel},
		Channel: catalog.Channel{Schema: catalog.SchemaChannel, Package: pkg, Name: channel, Entries: []catalog.Entry{{Name: t.bundle.Name(), Replaces: replaces}}},
		Bundle:  rendered.Bundle,
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
		state := text(o.Object, "status", "connectionState", "lastObservedState")
		return state == "READY", fmt.Sprintf("OLM connects to the catalog at %s (state %q)", address, state), nil
	})
}

// complete waits for the InstallPlan of a Subscription, approves it, and waits until the bundle
// is installed.
func (t *task) complete(ctx context.Context, subscription string) error {
	plan, err := t.plan(ctx, subscription)
	if err != nil {
		return t.diagnose(ctx, subscription, "", err)
	}
	if err := t.approve(ctx, plan); err != nil {
		return err
	}
	if err := t.execute(ctx, plan); err != nil {
		return t.diagnose(ctx, subscription, plan, err)
	}
	if err := t.succeed(ctx); err != nil {
		return t.diagnose(ctx, subscription, plan, err)
	}
	return t.label(ctx)
}

// steady is how long OLM must report the same failure before it is final: OLM repeats most of
// what fails.
const steady = 5 * time.Second

// failure is a failure that OLM reports, and when it did so first.
type failure struct {
	text  string
	since time.Time
}

// final reports whether OLM has reported the same failure for some time.
func (f *failure) final(text string) bool {
	if text == "" || text != f.text {
		*f = failure{text, time.Now()}
	}
	return text != "" && time.Since(f.since) >= steady
}

// plan waits until OLM has made an InstallPlan for the bundle, and returns its name.
func (t *task) plan(ctx context.Context, subscription string) (name string, err error) {
	var failed failure
	err = t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, subscriptions, t.namespace, subscription)
		if err != nil || o == nil {
			return false, "", err
		}
		if text(o.Object, "status", "currentCSV") == t.bundle.Name() {
			name = text(o.Object, "status", "installPlanRef", "name")
		}
		reason, final := "OLM resolves the Subscription", false
		for _, kind := range []string{"ResolutionFailed", "BundleUnpackFailed", "BundleUnpacking"} {
			if c := condition(o.Object, kind); c["status"] == "True" {
				reason, final = fmt.Sprint(c["message"]), kind != "BundleUnpacking"
				break
			}
		}
		if !final {
			failed.final("")
		} else if name == "" && failed.final(reason) {
			return false, "", fault.Failed("", "OLM cannot resolve %s: %s", t.bundle.Name(), reason)
		}
		return name != "", reason, nil
	})
	return name, err
}

// execute waits until OLM has created the objects of an InstallPlan.
func (t *task) execute(ctx context.Context, plan string) error {
	return t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, installPlans, t.namespace, plan)
		if err != nil || o == nil {
			return false, "", err
		}
		phase := text(o.Object, "status", "phase")
		message := text(condition(o.Object, "Installed"), "message")
		if phase == "Failed" {
			return false, "", fault.Failed("", "InstallPlan %s failed: %s", plan, message)
		}
		return phase == "Complete", strings.TrimSuffix(fmt.Sprintf("InstallPlan %s is in phase %s: %s", plan, phase, message), ": "), nil
	})
}

// succeed waits until the ClusterServiceVersion reports success.
func (t *task) succeed(ctx context.Context) error {
	var failed failure
	return t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, csvs, t.namespace, t.bundle.Name())
		if err != nil || o == nil {
			return false, "OLM creates ClusterServiceVersion " + t.bundle.Name(), err
		}
		phase, message := text(o.Object, "status", "phase"), text(o.Object, "status", "message")
		problem, final, err := t.podProblem(ctx)
		switch {
		case err != nil:
			return false, "", err
		case final:
			return false, "", fault.Failed("correct the Deployment, and generate the bundle again", "%s does not start: %s", t.bundle.Name(), problem)
		case phase == "Failed":
			if failed.final(message) {
				return false, "", fault.Failed("", "ClusterServiceVersion %s failed: %s", t.bundle.Name(), message)
			}
		case phase == "Succeeded":
			return t.rolledOut(ctx)
		default:
			failed.final("")
		}
		return false, cmp.Or(problem, fmt.Sprintf("ClusterServiceVersion %s is in phase %s: %s", t.bundle.Name(), phase, message)), nil
	})
}

// rolledOut reports whether only pods of this version run. OLM reports success when enough pods
// are available, also if they are from the former version.
func (t *task) rolledOut(ctx context.Context) (done bool, reason string, err error) {
	for _, d := range t.deployments() {
		name := text(d, "name")
		o, err := t.get(ctx, deployments, t.namespace, name)
		if err != nil || o == nil {
			return false, "Deployment " + name + " does not exist", err
		}
		wanted := number(o.Object, "spec", "replicas")
		if number(o.Object, "status", "observedGeneration") != o.GetGeneration() || number(o.Object, "status", "updatedReplicas") != wanted ||
			number(o.Object, "status", "availableReplicas") != wanted || number(o.Object, "status", "replicas") != wanted {
			return false, fmt.Sprintf("Deployment %s replaces its pods", name), nil
		}
	}
	return true, "", nil
}

// label notes the digest of the bundle, so that a repeat knows whether it has changed.
func (t *task) label(ctx context.Context) error {
	sum, err := digest(t.bundle)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{digestKey: sum}}})
	if err != nil {
		return err
	}
	_, err = t.on(csvs, t.namespace).Patch(ctx, t.bundle.Name(), types.MergePatchType, patch, metav1.PatchOptions{})
	return explain(ctx, err)
}

// tidy removes the Subscription and the catalog, which the operator does not need. A catalog that
// nobody serves would keep OLM from resolving other Subscriptions in the namespace.
func (t *task) tidy(ctx context.Context, name string) error {
	if _, err := t.remove(ctx, subscriptions, t.namespace, name); err != nil {
		return err
	}
	return t.removeCatalog(ctx, t.namespace, name)
}

// removeCatalog removes a catalog of operon, with the pod that serves it.
func (c *Client) removeCatalog(ctx context.Context, namespace, name string) error {
	for _, r := range []resource{catalogSources, pods, configMaps} {
		if _, err := c.remove(ctx, r, namespace, name); err != nil {
			return err
		}
	}
	return nil
}
