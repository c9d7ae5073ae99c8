package cluster

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// ManagerWebhooks are the webhooks of a manager, an operator in Go, that runs on this machine.
type ManagerWebhooks struct {
	Project        string                       // the name of its project
	Configurations []*unstructured.Unstructured // as generated, with the path of each webhook in a Service
	CRDs           []string                     // names of CRDs that the manager converts
}

const (
	managedByLabel = "app.kubernetes.io/managed-by"
	// conversionAnnotation is the annotation with the former spec.conversion of a CRD, as JSON.
	conversionAnnotation = "hooks.operon.dev/former-conversion"
)

var (
	validatingKind = kubeapi.Kind{
		Group: "admissionregistration.k8s.io", Version: "v1",
		Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations",
	}
	mutatingKind = kubeapi.Kind{
		Group: "admissionregistration.k8s.io", Version: "v1",
		Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations",
	}
	crdKind = kubeapi.Kind{
		Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions",
	}
)

// managedByRun labels the configurations of a manager on this machine.
const managedByRun = "operon-envtest-run"

func (w ManagerWebhooks) labels() map[string]string {
	return map[string]string{managedByLabel: managedByRun, "app.kubernetes.io/name": w.Project}
}

// RegisterManager makes the API server call the webhooks at server, such as
// https://127.0.0.1:9443, whose certificate ca verifies.
func (c *Cluster) RegisterManager(ctx context.Context, w ManagerWebhooks, server string, ca []byte) error {
	for _, generated := range w.Configurations {
		o := generated.DeepCopy()
		o.SetName(w.Project + "-" + o.GetName())
		o.SetLabels(w.labels())
		for _, client := range clientConfigs(o) {
			path, _, _ := unstructured.NestedString(client, "service", "path")
			delete(client, "service")
			client["url"], client["caBundle"] = server+path, base64Of(ca)
		}
		kind := validatingKind
		if o.GetKind() == mutatingKind.Kind {
			kind = mutatingKind
		}
		if err := c.replace(ctx, kind, o); err != nil {
			return fmt.Errorf("register %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	for _, name := range w.CRDs {
		err := c.changeCRD(ctx, name, func(crd *unstructured.Unstructured) error {
			return redirectConversion(crd, server+"/convert", ca)
		})
		if apierrors.IsNotFound(err) {
			return fault.Failed("install the CRDs first: make install", "CustomResourceDefinition %s does not exist", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replace creates o, or updates the object of that name.
func (c *Cluster) replace(ctx context.Context, kind kubeapi.Kind, o *unstructured.Unstructured) error {
	for {
		_, err := c.Create(ctx, kind, o)
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		old, err := c.Get(ctx, kind, "", o.GetName())
		if err == nil {
			next := o.DeepCopy()
			next.SetResourceVersion(old.GetResourceVersion())
			_, err = c.Update(ctx, kind, next, "")
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
}

// RemoveManager reverts RegisterManager, also of a run that was killed. CRDs get their
// former conversion.
func (c *Cluster) RemoveManager(ctx context.Context, w ManagerWebhooks) error {
	selector := labels.SelectorFromSet(w.labels()).String()
	for _, kind := range []kubeapi.Kind{validatingKind, mutatingKind} {
		list, err := c.List(ctx, kind, "", metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		for _, o := range list.Items {
			if err := c.Delete(ctx, kind, "", o.GetName(), metav1.DeletePropagationBackground); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("remove %s %s: %w", kind.Kind, o.GetName(), err)
			}
		}
	}
	for _, name := range w.CRDs {
		if err := c.changeCRD(ctx, name, revertConversion); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// clientConfigs returns the clientConfig of each webhook of a configuration or a CRD.
func clientConfigs(o *unstructured.Unstructured) []map[string]any {
	var found []map[string]any
	add := func(v any) {
		if client, is := v.(map[string]any); is {
			found = append(found, client)
		}
	}
	if o.GetKind() == crdKind.Kind {
		client, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "conversion", "webhook", "clientConfig")
		add(client)
		return found
	}
	webhooks, _ := o.Object["webhooks"].([]any)
	for _, w := range webhooks {
		if webhook, is := w.(map[string]any); is {
			add(webhook["clientConfig"])
		}
	}
	return found
}
