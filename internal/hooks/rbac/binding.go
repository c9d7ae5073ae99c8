package rbac

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/roles"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Kinds that the engine itself uses.
var (
	validating = kubeapi.Kind{Group: admissionregistrationv1.GroupName, Resource: "validatingwebhookconfigurations"}
	mutating   = kubeapi.Kind{Group: admissionregistrationv1.GroupName, Resource: "mutatingwebhookconfigurations"}
	crds       = kubeapi.Kind{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}
	namespaces = kubeapi.Kind{Group: corev1.GroupName, Resource: "namespaces"}
)

// bindings allows the requests that the engine sends for the configuration of a hook.
// Snapshots, schedules and onStartup need no others.
func (d *deriver) bindings(h Hook) {
	at := h.Source.Path
	for _, k := range h.Config.Kubernetes {
		d.watch(at, k)
	}
	// The engine finds its configuration with a field selector.
	name := d.Webhooks + "-hooks"
	for _, w := range h.Config.Validating {
		d.register(at, validating, name, "the engine registers the webhook "+w.Name)
	}
	for _, w := range h.Config.Mutating {
		d.register(at, mutating, name, "the engine registers the webhook "+w.Name)
	}
	for _, c := range h.Config.Conversion {
		crd := objects{kind: crds, names: []string{c.CRDName}}
		d.allow(at, roles.Everywhere, crd, "the engine registers the conversion "+c.Name, "get", "update")
	}
}

func (d *deriver) register(at string, k kubeapi.Kind, name, why string) {
	d.allow(at, roles.Everywhere, objects{kind: k}, why, "create")
	d.allow(at, roles.Everywhere, objects{kind: k, names: []string{name}}, why, "list", "update")
}

// watch allows what a binding to objects needs.
func (d *deriver) watch(at string, b config.Kubernetes) {
	k, err := d.Kinds.Find(b.APIVersion, b.Kind)
	if err != nil {
		d.unknownKind(at, "binding "+b.BindingName(), err)
		return
	}
	if !k.Supports("list") || !k.Supports("watch") {
		d.find(at, ruleImpossible, "remove the binding, or name another kind", "binding %s: the API server does not store objects of %s, so they cannot be watched", b.BindingName(), k.Kind)
		return
	}
	why := fmt.Sprintf("binding %s watches %s", b.BindingName(), k.Kind)
	bound := objects{kind: k, names: namesOf(b)}
	selector := b.Namespace
	switch {
	case selector == nil || selector.LabelSelector == nil && (selector.NameSelector == nil || len(selector.NameSelector.MatchNames) == 0):
		d.allow(at, roles.Everywhere, bound, why, "list", "watch")
	case !k.Namespaced:
		d.find(at, ruleImpossible, "remove namespace", "binding %s: %s is a cluster-scoped kind, so the engine finds no objects in a namespace", b.BindingName(), k.Kind)
	case selector.LabelSelector != nil: // then the engine ignores names of namespaces
		d.allow(at, roles.Everywhere, bound, why, "list", "watch")
		byLabel := fmt.Sprintf("binding %s selects namespaces by label", b.BindingName())
		d.allow(at, roles.Everywhere, objects{kind: namespaces}, byLabel, "list", "watch")
	default:
		for _, ns := range selector.NameSelector.MatchNames {
			d.allow(at, roles.Scope{Cluster: ns == "", Namespace: ns}, bound, why, "list", "watch")
		}
	}
}

// namesOf returns the names that a binding selects. The engine sends them as field
// selectors, which the API server's authorizer reads.
func namesOf(b config.Kubernetes) []string {
	if b.NameSelector != nil && len(b.NameSelector.MatchNames) > 0 {
		return b.NameSelector.MatchNames
	}
	if b.FieldSelector == nil {
		return nil
	}
	for _, e := range b.FieldSelector.MatchExpressions {
		if e.Field == "metadata.name" && !strings.HasPrefix(e.Operator, "!") && e.Operator != "NotEquals" {
			return []string{e.Value}
		}
	}
	return nil
}
