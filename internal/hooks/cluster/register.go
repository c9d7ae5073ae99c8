package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Webhook is a binding to requests of the API server.
type Webhook struct {
	Path string // under which the server knows it, with a slash before it
	config.Admission
}

// Webhooks are all that is to be registered.
type Webhooks struct {
	Validating, Mutating []Webhook
	CRDs                 []string // that hooks convert, by name
}

// ConfigurationName is that of the objects which register webhooks: the engine's,
// for the rights to it are granted by name.
const ConfigurationName = "shell-operator-hooks-hooks"

const (
	// owned marks objects of a run, so that the next one may replace what a run
	// left that was killed.
	owned      = "app.kubernetes.io/managed-by"
	ownedValue = "operon-hooks-run"
	// converted keeps the former spec.conversion of a CRD, as JSON.
	converted = "hooks.operon.dev/former-conversion"
)

var (
	validatingKind = kinds.Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations"}
	mutatingKind   = kinds.Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations"}
	crdKind        = kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"}
)

// And are the webhooks of both.
func (w Webhooks) And(more Webhooks) Webhooks {
	return Webhooks{slices.Concat(w.Validating, more.Validating), slices.Concat(w.Mutating, more.Mutating), slices.Concat(w.CRDs, more.CRDs)}
}

// None reports whether there is nothing to register.
func (w Webhooks) None() bool { return len(w.Validating)+len(w.Mutating)+len(w.CRDs) == 0 }

// Register has the API server call next at s, in the place of was, which it was told
// to call there before; either may be none. What is in both is called all the while.
// An error may leave some of both; somebody else's registrations are never touched.
func (c *Cluster) Register(ctx context.Context, s *Server, was, next Webhooks) error {
	sets := []struct {
		kind      kinds.Kind
		was, next []Webhook
	}{{validatingKind, was.Validating, next.Validating}, {mutatingKind, was.Mutating, next.Mutating}}
	var errs []error
	for _, r := range sets {
		if len(r.was) > 0 && len(r.next) == 0 {
			errs = append(errs, c.deregister(ctx, r.kind, s.URL))
		}
	}
	for _, name := range was.CRDs {
		if !slices.Contains(next.CRDs, name) {
			errs = append(errs, c.convertAsBefore(ctx, name, s.URL))
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
		if err := c.convertAt(ctx, name, s); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

// RemoveStale takes back what runs registered that were killed: as long as it is there, the
// API server refuses requests, for nobody answers. What it may not see is left alone,
// and what a run that is alive or somebody else registered.
func (c *Cluster) RemoveStale(ctx context.Context) error {
	errs := []error{c.deregister(ctx, validatingKind, ""), c.deregister(ctx, mutatingKind, "")}
	var crds metav1.PartialObjectMetadataList // for the schemas in a list of CRDs are long
	err := c.get(ctx, "/apis/"+crdKind.APIVersion()+"/"+crdKind.Resource, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", &crds)
	errs = append(errs, err)
	for _, crd := range crds.Items {
		if _, kept := crd.Annotations[converted]; kept {
			errs = append(errs, c.convertAsBefore(ctx, crd.Name, ""))
		}
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) })
	return fault.In("webhooks of a run that was killed may still be registered", errors.Join(errs...))
}

// register makes or replaces the configuration of a kind, again where somebody else
// wrote it in between.
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
		list, err := c.List(ctx, kind, "", metav1.ListOptions{FieldSelector: "metadata.name=" + ConfigurationName})
		if err != nil {
			return err
		}
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.Group + "/" + kind.Version, "kind": kind.Kind}}
		o.SetName(ConfigurationName)
		write := c.Create
		if len(list.Items) > 0 {
			o = &list.Items[0]
			if err := c.checkReplaceable(ctx, kind, o, s.URL); err != nil {
				return err
			}
			write = func(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return c.Update(ctx, k, o, "")
			}
		}
		o.SetLabels(map[string]string{owned: ownedValue})
		o.Object["webhooks"] = entries
		if _, err = write(ctx, kind, o); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// entry is how a configuration has a webhook: as the engine fills it, but for its
// address.
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
	// As any JSON, which is all that an unstructured object may hold.
	content, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	plain := &unstructured.Unstructured{}
	err = plain.UnmarshalJSON(append([]byte(`{"apiVersion":"v1","kind":"Any","it":`), append(content, '}')...))
	it, _, _ := unstructured.NestedMap(plain.Object, "it")
	return it, err
}

// deregister removes the configuration of a kind, if a run made it and it leads to a
// server at this address, or to none that is there. It looks again where somebody else
// wrote it in between.
func (c *Cluster) deregister(ctx context.Context, kind kinds.Kind, at string) error {
	for {
		o, err := c.Get(ctx, kind, "", ConfigurationName)
		if err == nil && c.checkReplaceable(ctx, kind, o, at) == nil {
			err = c.deleteSame(ctx, kind, o)
		}
		switch {
		case err == nil || apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsConflict(err):
			return fmt.Errorf("remove %s %s: %w", kind.Kind, ConfigurationName, err)
		}
	}
}

// keepConversion keeps in a CRD how its objects are converted, before that is
// changed.
func (c *Cluster) keepConversion(ctx context.Context, name string) error {
	return c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
		if err := c.served(ctx, crd, ""); err != nil {
			return err
		}
		return keep(crd)
	})
}

func keep(crd *unstructured.Unstructured) error {
	notes := crd.GetAnnotations()
	if _, kept := notes[converted]; kept {
		return nil
	}
	former, _, err := unstructured.NestedMap(crd.Object, "spec", "conversion")
	if err != nil {
		return err
	}
	content, err := json.Marshal(former)
	if err != nil {
		return err
	}
	if notes == nil {
		notes = map[string]string{}
	}
	notes[converted] = string(content)
	crd.SetAnnotations(notes)
	return nil
}

// convertAt has objects of a CRD converted at s.
func (c *Cluster) convertAt(ctx context.Context, name string, s *Server) error {
	err := c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
		if err := c.served(ctx, crd, s.URL); err != nil {
			return err
		}
		if err := keep(crd); err != nil {
			return err
		}
		return unstructured.SetNestedMap(crd.Object, map[string]any{
			"strategy": "Webhook",
			"webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig":             map[string]any{"url": s.URL + convertPath + name, "caBundle": base64Of(s.CA)},
			},
		}, "spec", "conversion")
	})
	if apierrors.IsNotFound(err) {
		return fault.Failed("install the CRDs first: make install, or kubectl apply --server-side -f config/crd/bases", "there is no CustomResourceDefinition %s to convert", name)
	}
	return err
}

// convertAsBefore puts back what convertAt changed, where it did, and no other run at
// another address has done so since. Without an address, it puts back what leads to a
// run that was killed.
func (c *Cluster) convertAsBefore(ctx context.Context, name, at string) error {
	err := c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
		notes := crd.GetAnnotations()
		content, kept := notes[converted]
		if !kept || c.served(ctx, crd, at) != nil || at == "" && !isRedirected(crd) {
			return nil
		}
		delete(notes, converted)
		crd.SetAnnotations(notes)
		var former map[string]any
		if err := json.Unmarshal([]byte(content), &former); err != nil {
			return err
		}
		return unstructured.SetNestedMap(crd.Object, former, "spec", "conversion")
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// changeCRD reads, changes and writes a CRD, again where somebody else wrote it in
// between.
func (c *Cluster) changeCRD(ctx context.Context, name string, change func(*unstructured.Unstructured) error) error {
	for {
		crd, err := c.Get(ctx, crdKind, "", name)
		if err != nil {
			return err
		}
		if err := change(crd); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", name, err)
		}
		if _, err = c.Update(ctx, crdKind, crd, ""); !apierrors.IsConflict(err) {
			return err
		}
	}
}
