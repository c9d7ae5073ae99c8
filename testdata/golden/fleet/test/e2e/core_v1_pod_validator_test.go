//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// corev1PodRefused changes the object in test/objects/core_v1_pod.yaml
// to objects that the validation webhook must refuse. A key is a JSON merge patch, and
// its value is a part of the error.
var corev1PodRefused = map[string]string{
	// `{"spec": {"foo": ""}}`: "spec.foo",
}

// corev1PodValidation describes the validation webhook as users see it. The API
// server stores nothing.
func corev1PodValidation() {
	const sample = "test/objects/core_v1_pod.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("refuses invalid objects", func() {
		if len(corev1PodRefused) == 0 {
			Skip("corev1PodRefused is empty: add an object for each rule of the webhook")
		}
		for change, reason := range corev1PodRefused {
			_, err := createChanged(sample, change, "--dry-run=server")
			Expect(err).To(MatchError(ContainSubstring(reason)), change)
		}
	})
}
