//go:build testall

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// testRestrictedPod creates the pod of the manager in a namespace that enforces the
// restricted pod security standard. The namespace of a manager for all namespaces enforces
// it, too.
func testRestrictedPod(t *testing.T, c *controlPlane, namespace string, enforced bool, all []*unstructured.Unstructured) {
	pod := podOf(t, all)
	try := func(namespace string) error {
		_, err := c.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	const restricted = "restricted"
	c.apply(t, object("v1", "ServiceAccount", restricted, pod.Spec.ServiceAccountName))
	for _, namespace := range []string{namespace, restricted} {
		eventually(t, "create the pod in namespace "+namespace, func() error { return try(namespace) })
	}
	pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true)
	if err := try(restricted); !violatesPodSecurity(err, restricted) {
		t.Errorf("a pod that allows privilege escalation: %v", err)
	}
	if err := try(namespace); violatesPodSecurity(err, restricted) != enforced {
		t.Errorf("a pod that allows privilege escalation in namespace %s: %v", namespace, err)
	}
}

// podOf returns the pod template in the Deployment of a project.
func podOf(t *testing.T, all []*unstructured.Unstructured) *corev1.Pod {
	t.Helper()
	template, _, err := unstructured.NestedMap(ofKind(all, "Deployment")[0].Object, "spec", "template")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
		t.Fatal(err)
	}
	pod.Name = "manager"
	return pod
}

// violatesPodSecurity reports whether a pod was rejected because of a security level.
func violatesPodSecurity(err error, level string) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), `violates PodSecurity "`+level)
}
