package fakeapi

import (
	"encoding/base64"
	"maps"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// scheme has the Go types of the kinds that hooks use most.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, autoscalingv2.AddToScheme, coordinationv1.AddToScheme, discoveryv1.AddToScheme,
		storagev1.AddToScheme, schedulingv1.AddToScheme, admissionregistrationv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // two groups register one kind
		}
	}
	return s
})

// NewTyped returns an empty object of the Go type of a kind, or nil when the kind has
// none here.
func NewTyped(k kinds.Kind) runtime.Object {
	o, err := scheme().New(schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind})
	if err != nil {
		return nil
	}
	return o
}

// decodeTyped decodes an object into a Go type and back, which drops unknown fields.
func decodeTyped(into runtime.Object, content []byte) (map[string]any, error) {
	if err := kjson.UnmarshalCaseSensitivePreserveInts(content, into); err != nil {
		return nil, err
	}
	content, err := utiljson.Marshal(into)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, utiljson.Unmarshal(content, &object)
}

// withoutGeneration are the resources that have no metadata.generation, by group.
var withoutGeneration = map[string][]string{
	"":                          {"configmaps", "secrets", "namespaces", "nodes", "services", "serviceaccounts", "events", "endpoints", "persistentvolumes", "persistentvolumeclaims", "limitranges", "resourcequotas"},
	"rbac.authorization.k8s.io": {"roles", "rolebindings", "clusterroles", "clusterrolebindings"},
	"coordination.k8s.io":       {"leases"},
	"storage.k8s.io":            {"storageclasses", "csinodes", "csidrivers", "volumeattachments"},
	"autoscaling":               {"horizontalpodautoscalers"},
	"events.k8s.io":             {"events"},
}

// hasGeneration reports whether objects of a kind have metadata.generation.
func hasGeneration(k kinds.Kind) bool {
	return !slices.Contains(withoutGeneration[k.Group], k.Resource)
}

// setDerived sets the fields that a server derives from others on every write.
func setDerived(k kinds.Kind, o *unstructured.Unstructured) {
	if k.Group != "" {
		return
	}
	switch k.Resource {
	case "secrets":
		if texts, _, _ := unstructured.NestedStringMap(o.Object, "stringData"); texts != nil {
			data, _, _ := unstructured.NestedMap(o.Object, "data")
			if data == nil {
				data = map[string]any{}
			}
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				data[name] = base64.StdEncoding.EncodeToString([]byte(texts[name]))
			}
			o.Object["data"] = data
		}
		delete(o.Object, "stringData")
		if o.Object["type"] == nil {
			o.Object["type"] = "Opaque"
		}
	case "namespaces":
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels["kubernetes.io/metadata.name"] = o.GetName()
		o.SetLabels(labels)
	}
}

// initialize sets the fields that a server sets once, on creation.
func initialize(k kinds.Kind, o *unstructured.Unstructured) {
	if k.Group == "" && k.Resource == "namespaces" {
		setDerived(k, o) // the name may be a generated one
		o.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		o.Object["status"] = map[string]any{"phase": "Active"}
	}
	if isCRD(k) {
		establish(o)
	}
}
