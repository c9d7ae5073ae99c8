//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// seav1beta1NFSRefused changes the object in config/samples/sea_v1beta1_nfs.yaml
// to objects that the validation webhook must refuse. A key is a JSON merge patch, and
// its value is a part of the error.
var seav1beta1NFSRefused = map[string]string{
	// `{"spec": {"foo": ""}}`: "spec.foo",
}

// seav1beta1NFSValidation describes the validation webhook as users see it. The API
// server stores nothing.
func seav1beta1NFSValidation() {
	const sample = "config/samples/sea_v1beta1_nfs.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("refuses invalid objects", func() {
		if len(seav1beta1NFSRefused) == 0 {
			Skip("seav1beta1NFSRefused is empty: add an object for each rule of the webhook")
		}
		for change, reason := range seav1beta1NFSRefused {
			_, err := createChanged(sample, change, "--dry-run=server")
			Expect(err).To(MatchError(ContainSubstring(reason)), change)
		}
	})
}
