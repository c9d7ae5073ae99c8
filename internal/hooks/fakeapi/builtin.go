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

// scheme has the types of the kinds that hooks deal with most.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, autoscalingv2.AddToScheme, coordinationv1.AddToScheme, discoveryv1.AddToScheme,
		storagev1.AddToScheme, schedulingv1.AddToScheme, admissionregistrationv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // two of them differ about a kind
		}
	}
	return s
})

// Form is an empty value of a kind's type, or nil when that is not known.
func Form(k kinds.Kind) runtime.Object {
	o, err := scheme().New(schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind})
	if err != nil {
		return nil
	}
	return o
}

// typed reads an object as its kind's type does, without what that does not know.
// It is nil when the type is not known.
func typed(k kinds.Kind, content []byte) (map[string]any, error) {
	into := Form(k)
	if into == nil {
		return nil, nil
	}
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

// uncounted are the resources of each group that have no generation. A group that
// is not there counts them all.
var uncounted = map[string][]string{
	"":                          {"configmaps", "secrets", "namespaces", "nodes", "services", "serviceaccounts", "events", "endpoints", "persistentvolumes", "persistentvolumeclaims", "limitranges", "resourcequotas"},
	"rbac.authorization.k8s.io": {"roles", "rolebindings", "clusterroles", "clusterrolebindings"},
	"coordination.k8s.io":       {"leases"},
	"storage.k8s.io":            {"storageclasses", "csinodes", "csidrivers", "volumeattachments"},
	"autoscaling":               {"horizontalpodautoscalers"},
	"events.k8s.io":             {"events"},
}

// counts reports whether changes of an object are counted in its generation.
func counts(k kinds.Kind) bool { return !slices.Contains(uncounted[k.Group], k.Resource) }

// complete fills in what a server makes of a field of another form.
func complete(k kinds.Kind, o *unstructured.Unstructured) {
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

// begin fills in what a new object has.
func begin(k kinds.Kind, o *unstructured.Unstructured) {
	if k.Group == "" && k.Resource == "namespaces" {
		complete(k, o) // its name may be generated
		o.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		o.Object["status"] = map[string]any{"phase": "Active"}
	}
	if isCRD(k) {
		establish(o)
	}
}
