package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Annotations of Helm.
const (
	hookAnnotation   = "helm.sh/hook"
	weightAnnotation = "helm.sh/hook-weight"
	deleteAnnotation = "helm.sh/hook-delete-policy"
	policyAnnotation = "helm.sh/resource-policy"
)

// installOrder is the order in which Helm creates objects. Other kinds come last.
var installOrder = []string{
	"PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy",
	"PodDisruptionBudget", "ServiceAccount", "Secret",
	"SecretList", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
	"CustomResourceDefinition", "ClusterRole", "ClusterRoleList",
	"ClusterRoleBinding", "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
	"ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet",
	"Job", "CronJob", "IngressClass", "Ingress", "APIService",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// object is an object of a release.
type object struct {
	*unstructured.Unstructured
	file string // the template, relative to the project
	kind kubeapi.Kind
}

// String returns the template and the name of an object.
func (o object) String() string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return o.file + ": " + o.GetKind() + " " + name
}

// same reports whether two objects of a release are one in the cluster.
func (o object) same(other object) bool {
	return o.kind.GVK().GroupKind() == other.kind.GVK().GroupKind() &&
		o.GetName() == other.GetName() && o.GetNamespace() == other.GetNamespace()
}

// isKept reports whether Helm never deletes an object.
func (o object) isKept() bool { return o.GetAnnotations()[policyAnnotation] == "keep" }

// hook is an object that Helm creates at certain events.
type hook struct {
	object
	events, deletePolicies []string
	weight                 int
}

// build adds the objects in rendered files to a release of a custom resource.
func (m *Manager) build(ctx context.Context, owner *unstructured.Unstructured, r *release, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		rendered, err := chart.Objects(map[string]string{name: files[name]})
		if err != nil {
			return m.located(err)
		}
		for _, o := range rendered {
			if err := m.add(ctx, owner, r, object{Unstructured: o, file: strings.TrimPrefix(m.Folder+"/"+name, "/")}); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(r.objects, func(a, b object) int { return cmp.Compare(rank(a.GetKind()), rank(b.GetKind())) })
	slices.SortStableFunc(r.hooks, func(a, b hook) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), strings.Compare(a.GetName(), b.GetName()))
	})
	return nil
}

func rank(kind string) int {
	if i := slices.Index(installOrder, kind); i >= 0 {
		return i
	}
	return len(installOrder)
}

// add adds a rendered object, or the items of a rendered list, to a release.
func (m *Manager) add(ctx context.Context, owner *unstructured.Unstructured, r *release, o object) error {
	if o.IsList() {
		return o.EachListItem(func(item runtime.Object) error {
			return m.add(ctx, owner, r, object{Unstructured: item.(*unstructured.Unstructured), file: o.file})
		})
	}
	var err error
	if o.kind, err = m.API.Kind(ctx, o.GetAPIVersion(), o.GetKind()); err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	switch {
	case !o.kind.Namespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "":
		o.SetNamespace(r.namespace)
	}
	setOwner(o, owner)
	if events := list(o.GetAnnotations()[hookAnnotation]); len(events) > 0 {
		h := hook{object: o, events: events, deletePolicies: list(o.GetAnnotations()[deleteAnnotation])}
		h.weight, _ = strconv.Atoi(o.GetAnnotations()[weightAnnotation]) // Helm ignores other weights, too
		r.hooks = append(r.hooks, h)
		return nil
	}
	o.SetLabels(with(o.GetLabels(), "app.kubernetes.io/managed-by", "Helm"))
	o.SetAnnotations(with(with(o.GetAnnotations(), "meta.helm.sh/release-name", r.name), "meta.helm.sh/release-namespace", r.namespace))
	r.objects = append(r.objects, o)
	return nil
}

// setOwner makes the API server delete an object with the custom resource. Annotations name the owner of
// an object that Helm keeps, or that cannot have the custom resource as owner.
func setOwner(o object, owner *unstructured.Unstructured) {
	if o.isKept() || owner.GetNamespace() != "" && owner.GetNamespace() != o.GetNamespace() {
		annotations := with(o.GetAnnotations(), "operator-sdk/primary-resource",
			strings.TrimPrefix(owner.GetNamespace()+"/"+owner.GetName(), "/"))
		kind := owner.GroupVersionKind().GroupKind().String()
		o.SetAnnotations(with(annotations, "operator-sdk/primary-resource-type", kind))
		return
	}
	yes := true
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}})
}

// list returns the items of an annotation.
func list(annotation string) []string {
	return strings.FieldsFunc(annotation, func(r rune) bool { return r == ',' || r == ' ' })
}

// with returns a map with another entry.
func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
