package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/config"
	"github.com/operon-dev/operon/internal/hook/kinds"
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

// Register has the API server call webhooks at s. What it made is taken back by
// remove, also when it returns an error.
func (c *Cluster) Register(ctx context.Context, s *Server, w Webhooks) (remove func(context.Context) error, err error) {
	var undo []func(context.Context) error
	remove = func(ctx context.Context) error {
		var errs []error
		for _, u := range undo {
			errs = append(errs, u(ctx))
		}
		undo = nil
		return errors.Join(errs...)
	}
	for _, r := range []struct {
		kind     kinds.Kind
		webhooks []Webhook
	}{{validatingKind, w.Validating}, {mutatingKind, w.Mutating}} {
		if len(r.webhooks) == 0 {
			continue
		}
		undo = append(undo, func(ctx context.Context) error { return c.deregister(ctx, r.kind) })
		if err := c.register(ctx, s, r.kind, r.webhooks); err != nil {
			return remove, err
		}
	}
	for _, name := range w.CRDs {
		undo = append(undo, func(ctx context.Context) error { return c.convertAsBefore(ctx, name) })
		if err := c.convertAt(ctx, name, s.URL+convertPath+name, s.CA); err != nil {
			return remove, err
		}
	}
	return remove, nil
}

// register makes or replaces the configuration of a kind.
func (c *Cluster) register(ctx context.Context, s *Server, kind kinds.Kind, webhooks []Webhook) error {
	list, err := c.List(ctx, kind, "", metav1.ListOptions{FieldSelector: "metadata.name=" + ConfigurationName})
	if err != nil {
		return err
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.Group + "/" + kind.Version, "kind": kind.Kind}}
	o.SetName(ConfigurationName)
	if len(list.Items) > 0 {
		o = &list.Items[0]
		if o.GetLabels()[owned] != ownedValue {
			return c.taken(kind)
		}
	}
	o.SetLabels(map[string]string{owned: ownedValue})
	var entries []any
	for _, w := range webhooks {
		entry, err := w.entry(s)
		if err != nil {
			return fmt.Errorf("webhook %s: %w", w.Name, err)
		}
		entries = append(entries, entry)
	}
	o.Object["webhooks"] = entries
	if len(list.Items) > 0 {
		_, err = c.Update(ctx, kind, o, "")
	} else {
		_, err = c.Create(ctx, kind, o)
	}
	return err
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
		"admissionReviewVersions": []string{"v1"}, "clientConfig": map[string]any{"url": s.URL + w.Path, "caBundle": s.CA},
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

// deregister removes the configuration of a kind, if it is that of a run.
func (c *Cluster) deregister(ctx context.Context, kind kinds.Kind) error {
	o, err := c.Get(ctx, kind, "", ConfigurationName)
	if apierrors.IsNotFound(err) || err == nil && o.GetLabels()[owned] != ownedValue {
		return nil
	}
	if err == nil {
		err = c.Delete(ctx, kind, "", ConfigurationName, metav1.DeletePropagationBackground)
	}
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("remove %s %s: %w", kind.Kind, ConfigurationName, err)
}

// keepConversion keeps in a CRD how its objects are converted, before that is
// changed.
func (c *Cluster) keepConversion(ctx context.Context, name string) error {
	return c.changeCRD(ctx, name, keep)
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

// convertAt has objects of a CRD converted at a URL.
func (c *Cluster) convertAt(ctx context.Context, name, url string, ca []byte) error {
	err := c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
		if err := keep(crd); err != nil {
			return err
		}
		return unstructured.SetNestedMap(crd.Object, map[string]any{
			"strategy": "Webhook",
			"webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig":             map[string]any{"url": url, "caBundle": base64Of(ca)},
			},
		}, "spec", "conversion")
	})
	if apierrors.IsNotFound(err) {
		return fault.Failed("install the CRDs first: make install, or kubectl apply --server-side -f config/crd/bases", "there is no CustomResourceDefinition %s to convert", name)
	}
	return err
}

// convertAsBefore puts back what convertAt changed, where it did.
func (c *Cluster) convertAsBefore(ctx context.Context, name string) error {
	err := c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
		notes := crd.GetAnnotations()
		content, kept := notes[converted]
		if !kept {
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
