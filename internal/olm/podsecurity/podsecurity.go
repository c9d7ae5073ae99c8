// Package podsecurity makes pods of operon comply with Pod Security Standards.
//
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
package podsecurity

import (
	corev1 "k8s.io/api/core/v1"
)

// What operon can require of its pods, with the names of operator-sdk.
const (
	Restricted = "restricted" // the standard of this name
	Legacy     = "legacy"     // nothing
)

// Restrict makes a pod and its containers comply with the standard restricted. Their images must not
// run as root.
func Restrict(pod *corev1.PodSpec) {
	yes, no := true, false
	pod.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			containers[i].SecurityContext = &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}
		}
	}
}
