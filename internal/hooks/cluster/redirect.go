package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// managedByHooks labels webhook configurations that are redirected to this machine.
const managedByHooks = "operon-hooks-run"

// Redirection points the webhooks that shell-operator registers to this machine. shell-operator
// registers a Service for them, which exists only where shell-operator is deployed.
type Redirection struct {
	Configuration         string   // name of the webhook configurations
	CRDs                  []string // names of CRDs that hooks convert
	Admission, Conversion string   // URLs, without a trailing slash
}

// Prepare removes what a killed run has left, and saves the conversion of CRDs. It fails if another
// program serves the webhooks.
func (r Redirection) Prepare(ctx context.Context, c *Cluster) error {
	for _, kind := range []kubeapi.Kind{validatingKind, mutatingKind} {
		o, err := c.configuration(ctx, kind, r.Configuration)
		if err == nil && o != nil {
			err = c.checkReplaceable(ctx, o)
		}
		if err == nil && o != nil {
			err = c.removeConfiguration(ctx, kind, o)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range r.CRDs {
		err := c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
			if _, saved := crd.GetAnnotations()[conversionAnnotation]; saved {
				if err := checkNotServed(ctx, crd); err != nil {
					return err
				}
			}
			return annotateConversion(crd)
		})
		if apierrors.IsNotFound(err) {
			return fault.Failed("install the CRDs first: make install, or kubectl apply --server-side -f config/crd/bases", "CustomResourceDefinition %s does not exist", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveStale removes what killed runs have left: until then the API server rejects requests, because nothing
// serves the webhooks. It skips what other programs or active runs serve, what a starting run has only saved, and
// what it has no permission for.
func (r Redirection) RemoveStale(ctx context.Context, c *Cluster) error {
	var errs []error
	for _, kind := range []kubeapi.Kind{validatingKind, mutatingKind} {
		o, err := c.configuration(ctx, kind, r.Configuration)
		if err == nil && o != nil && c.checkReplaceable(ctx, o) == nil {
			err = c.removeConfiguration(ctx, kind, o)
		}
		errs = append(errs, err)
	}
	crds, err := c.List(ctx, crdKind, "", metav1.ListOptions{})
	errs = append(errs, err)
	if err == nil {
		for i := range crds.Items {
			crd := &crds.Items[i]
			_, saved := crd.GetAnnotations()[conversionAnnotation]
			if saved && len(addressesOf(crd)) > 0 && checkNotServed(ctx, crd) == nil {
				errs = append(errs, c.changeCRD(ctx, crd.GetName(), revertConversion))
			}
		}
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) })
	return fault.In("remove webhooks of runs that were killed", errors.Join(errs...))
}

// Run redirects webhooks until ctx ends, as often as shell-operator registers them. It reports each
// error once.
func (r Redirection) Run(ctx context.Context, c *Cluster, report func(error)) {
	const interval = 250 * time.Millisecond
	last := ""
	for ctx.Err() == nil {
		err := r.redirect(ctx, c)
		if err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			report(fault.In("redirect webhooks to this machine", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
}

// redirect replaces the Services of webhooks with URLs of this machine.
func (r Redirection) redirect(ctx context.Context, c *Cluster) error {
	for _, kind := range []kubeapi.Kind{validatingKind, mutatingKind} {
		o, err := c.configuration(ctx, kind, r.Configuration)
		if err == nil && o != nil && replaceServices(o, r.Admission) {
			o.SetLabels(map[string]string{managedByLabel: managedByHooks})
			_, err = c.Update(ctx, kind, o, "")
		}
		if err != nil {
			return err
		}
	}
	for _, name := range r.CRDs {
		crd, err := c.Get(ctx, crdKind, "", name)
		if err == nil && replaceServices(crd, r.Conversion) {
			_, err = c.Update(ctx, crdKind, crd, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the webhooks, and restores the conversion of CRDs.
func (r Redirection) Remove(ctx context.Context, c *Cluster) error {
	var errs []error
	for _, kind := range []kubeapi.Kind{validatingKind, mutatingKind} {
		o, err := c.configuration(ctx, kind, r.Configuration)
		if err == nil && o != nil {
			err = c.removeConfiguration(ctx, kind, o)
		}
		errs = append(errs, err)
	}
	for _, name := range r.CRDs {
		if err := c.changeCRD(ctx, name, revertConversion); !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// replaceServices replaces the Services of an object's webhooks with a URL, and reports whether there
// were any.
func replaceServices(o *unstructured.Unstructured, to string) (changed bool) {
	for _, client := range clientConfigs(o) {
		if path, found, _ := unstructured.NestedString(client, "service", "path"); found {
			delete(client, "service")
			client["url"] = to + path
			changed = true
		}
	}
	return changed
}

// configuration returns the webhook configuration of a kind, or nil. Like shell-operator, it lists,
// because roles of hooks do not allow get.
func (c *Cluster) configuration(ctx context.Context, kind kubeapi.Kind, name string) (*unstructured.Unstructured, error) {
	list, err := c.List(ctx, kind, "", metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil || len(list.Items) == 0 {
		return nil, err
	}
	return &list.Items[0], nil
}

// removeConfiguration deletes a webhook configuration. Roles of hooks do not allow that: then it
// removes the webhooks in it.
func (c *Cluster) removeConfiguration(ctx context.Context, kind kubeapi.Kind, o *unstructured.Unstructured) error {
	err := c.Delete(ctx, kind, "", o.GetName(), metav1.DeletePropagationBackground)
	if apierrors.IsForbidden(err) {
		o.SetLabels(nil)
		o.Object["webhooks"] = []any{}
		_, err = c.Update(ctx, kind, o, "")
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove %s %s: %w", kind.Kind, o.GetName(), err)
	}
	return nil
}

// checkReplaceable returns an error if a webhook configuration belongs to a deployed shell-operator, or
// to a run that serves the webhooks. A run that was killed does not count.
func (c *Cluster) checkReplaceable(ctx context.Context, o *unstructured.Unstructured) error {
	if webhooks, _ := o.Object["webhooks"].([]any); o.GetLabels()[managedByLabel] != managedByHooks && len(webhooks) > 0 {
		return fault.Failed(fmt.Sprintf("stop it, and delete its configurations: kubectl --context %s delete %s %s", c.Context, o.GetKind(), o.GetName()),
			"%s %s exists: a shell-operator registered its webhooks in this cluster", o.GetKind(), o.GetName())
	}
	return checkNotServed(ctx, o)
}

// checkNotServed returns an error if a program listens where the webhooks of an object are.
func checkNotServed(ctx context.Context, o *unstructured.Unstructured) error {
	dialer := net.Dialer{Timeout: time.Second} // a server on this machine answers immediately
	for _, address := range addressesOf(o) {
		if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
			_ = conn.Close()
			return fault.Failed("stop that run first; only hooks without webhooks can run in parallel",
				"another operon hooks run serves the webhooks of %s %s, at %s", o.GetKind(), o.GetName(), address)
		}
	}
	return nil
}

// addressesOf returns the hosts and ports of an object's webhooks that have a URL.
func addressesOf(o *unstructured.Unstructured) (all []string) {
	for _, client := range clientConfigs(o) {
		address, _ := client["url"].(string)
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			all = append(all, u.Host)
		}
	}
	return all
}
