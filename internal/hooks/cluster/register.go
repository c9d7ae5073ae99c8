package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Webhook is an admission webhook of a hook.
type Webhook struct {
	Path string // of its URL, with a leading slash
	config.Admission
}

// Webhooks are the webhooks to register.
type Webhooks struct {
	Validating, Mutating []Webhook
	CRDs                 []string // names of CRDs that hooks convert
}

// ConfigurationName is the engine's default name of its webhook configurations.
const ConfigurationName = "shell-operator-hooks-hooks"

const (
	// managedByLabel labels the objects of a run, so that the next run can replace the objects of
	// a run that was killed.
	managedByLabel = "app.kubernetes.io/managed-by"
	managedByValue = "operon-hooks-run"
	// conversionAnnotation is the annotation with the former spec.conversion of a CRD, as JSON.
	conversionAnnotation = "hooks.operon.dev/former-conversion"
)

var (
	validatingKind = kinds.Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations"}
	mutatingKind   = kinds.Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations"}
	crdKind        = kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"}
)

// Union returns the webhooks of both.
func (w Webhooks) Union(more Webhooks) Webhooks {
	return Webhooks{slices.Concat(w.Validating, more.Validating), slices.Concat(w.Mutating, more.Mutating), slices.Concat(w.CRDs, more.CRDs)}
}

// Empty reports whether there is nothing to register.
func (w Webhooks) Empty() bool { return len(w.Validating)+len(w.Mutating)+len(w.CRDs) == 0 }

// Register replaces the webhooks old, which were registered at s, with next. Either can
// be empty. Webhooks in both stay registered without interruption. After an error, some
// of both can be registered. Register never changes registrations of other programs.
func (c *Cluster) Register(ctx context.Context, s *Server, old, next Webhooks) error {
	sets := []struct {
		kind      kinds.Kind
		old, next []Webhook
	}{{validatingKind, old.Validating, next.Validating}, {mutatingKind, old.Mutating, next.Mutating}}
	var errs []error
	for _, r := range sets {
		if len(r.old) > 0 && len(r.next) == 0 {
			errs = append(errs, c.deregister(ctx, r.kind, c.configuration(), s.URL))
		}
	}
	for _, name := range old.CRDs {
		if !slices.Contains(next.CRDs, name) {
			errs = append(errs, c.restoreConversion(ctx, name, s.URL))
		}
	}
	for _, r := range sets {
		if len(r.next) == 0 {
			continue
		}
		if err := c.register(ctx, s, r.kind, r.next); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	for _, name := range next.CRDs {
		if err := c.setConversion(ctx, name, s); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

// RemoveStale removes the registrations of runs that were killed. Until then the API
// server rejects requests, because nothing serves the webhooks. RemoveStale skips what
// it has no permission to read, and registrations of active runs or other programs.
func (c *Cluster) RemoveStale(ctx context.Context) error {
	var errs []error
	names := []string{ConfigurationName, c.configuration()}
	for _, name := range slices.Compact(names) {
		errs = append(errs, c.deregister(ctx, validatingKind, name, ""), c.deregister(ctx, mutatingKind, name, ""))
	}
	var crds metav1.PartialObjectMetadataList // without the long schemas
	err := c.get(ctx, "/apis/"+crdKind.APIVersion()+"/"+crdKind.Resource, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", &crds)
	errs = append(errs, err)
	for _, crd := range crds.Items {
		if _, saved := crd.Annotations[conversionAnnotation]; saved {
			errs = append(errs, c.restoreConversion(ctx, crd.Name, ""))
		}
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) })
	return fault.In("remove webhooks of runs that were killed", errors.Join(errs...))
}

// WebhookPrefix returns the setting of the engine for the name of its webhook configurations,
// to which the engine appends "-hooks".
func (c *Cluster) WebhookPrefix() string { return strings.TrimSuffix(c.configuration(), "-hooks") }

// configuration returns the name of the webhook configurations. It is the engine's name,
// because permissions are granted by name.
func (c *Cluster) configuration() string { return cmp.Or(c.WebhookConfiguration, ConfigurationName) }

// findConfiguration returns the configuration of a kind, if it exists. Like the engine, it
// lists, because roles of hooks do not allow get.
func (c *Cluster) findConfiguration(ctx context.Context, kind kinds.Kind, name string) (o *unstructured.Unstructured, found bool, err error) {
	list, err := c.List(ctx, kind, "", metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil || len(list.Items) == 0 {
		return nil, false, err
	}
	return &list.Items[0], true, nil
}

// register creates or replaces the configuration of a kind. It retries after a conflict.
func (c *Cluster) register(ctx context.Context, s *Server, kind kinds.Kind, webhooks []Webhook) error {
	var entries []any
	for _, w := range webhooks {
		entry, err := w.entry(s)
		if err != nil {
			return fmt.Errorf("webhook %s: %w", w.Name, err)
		}
		entries = append(entries, entry)
	}
	for {
		o, found, err := c.findConfiguration(ctx, kind, c.configuration())
		if err != nil {
			return err
		}
		write := c.Create
		if !found {
			o = &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.Group + "/" + kind.Version, "kind": kind.Kind}}
			o.SetName(c.configuration())
		} else {
			if err := c.checkReplaceable(ctx, kind, o, s.URL); err != nil && len(clientConfigs(o)) > 0 {
				return err
			}
			write = func(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return c.Update(ctx, k, o, "")
			}
		}
		o.SetLabels(map[string]string{managedByLabel: managedByValue})
		o.Object["webhooks"] = entries
		if _, err = write(ctx, kind, o); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// entry returns the entry of a webhook in a configuration. It is the engine's, but with
// the URL of s.
func (w Webhook) entry(s *Server) (map[string]any, error) {
	var rules []map[string]any
	for _, r := range w.Rules {
		rules = append(rules, map[string]any{"apiGroups": r.APIGroups, "apiVersions": r.APIVersions, "resources": r.Resources, "operations": r.Operations, "scope": cmp.Or(r.Scope, "*")})
	}
	seconds := int32(10)
	if w.TimeoutSeconds != nil {
		seconds = *w.TimeoutSeconds
	}
	entry := map[string]any{
		"name": w.Name, "rules": rules, "timeoutSeconds": seconds, "matchPolicy": "Equivalent",
		"failurePolicy": cmp.Or(w.FailurePolicy, "Fail"), "sideEffects": cmp.Or(w.SideEffects, "None"),
		"admissionReviewVersions": []string{"v1"}, "clientConfig": map[string]any{"url": s.URL + (&url.URL{Path: w.Path}).EscapedPath(), "caBundle": s.CA},
	}
	if w.LabelSelector != nil {
		entry["objectSelector"] = w.LabelSelector
	}
	if w.Namespace != nil && w.Namespace.LabelSelector != nil {
		entry["namespaceSelector"] = w.Namespace.LabelSelector
	}
	var conditions []map[string]any
	for _, m := range w.MatchConditions {
		conditions = append(conditions, map[string]any{"name": m.Name, "expression": m.Expression})
	}
	if conditions != nil {
		entry["matchConditions"] = conditions
	}
	// An unstructured object can contain only JSON types.
	content, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	plain := &unstructured.Unstructured{}
	err = plain.UnmarshalJSON(append([]byte(`{"apiVersion":"v1","kind":"Any","it":`), append(content, '}')...))
	it, _, _ := unstructured.NestedMap(plain.Object, "it")
	return it, err
}

// deregister removes the configuration of a kind if a run created it and no other
// active run than the one at serverURL serves it. The roles of hooks do not allow to delete
// the configuration: then deregister removes its webhooks. It retries after a conflict.
func (c *Cluster) deregister(ctx context.Context, kind kinds.Kind, name, serverURL string) error {
	for {
		o, found, err := c.findConfiguration(ctx, kind, name)
		if found && c.checkReplaceable(ctx, kind, o, serverURL) == nil {
			if err = c.deleteUnchanged(ctx, kind, o); apierrors.IsForbidden(err) {
				o.SetLabels(nil)
				o.Object["webhooks"] = []any{}
				_, err = c.Update(ctx, kind, o, "")
			}
		}
		switch {
		case err == nil || apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsConflict(err):
			return fmt.Errorf("remove %s %s: %w", kind.Kind, name, err)
		}
	}
}
