package chart

import (
	"encoding/json"
	"strings"
	"sync"

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
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kjson "sigs.k8s.io/json"
)

// builtin has the types of the kinds of Kubernetes that charts install.
var builtin = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme,
		coordinationv1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
		rbacv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
})

// invalidFields returns the fields of an object of Kubernetes that its type does not have, or whose values it cannot
// have. kubectl, Helm and API servers refuse such objects. Objects of other kinds have none.
func invalidFields(o *unstructured.Unstructured) (problems []string) {
	typed, err := builtin().New(o.GroupVersionKind())
	if err != nil {
		return nil
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		return []string{err.Error()}
	}
	unknown, err := kjson.UnmarshalStrict(text, typed)
	if err != nil {
		return []string{strings.TrimPrefix(err.Error(), "json: ")}
	}
	for _, err := range unknown {
		problems = append(problems, err.Error())
	}
	return problems
}
