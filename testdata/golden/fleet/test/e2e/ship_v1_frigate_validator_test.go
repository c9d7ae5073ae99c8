//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// shipv1FrigateRefused changes the object in config/samples/ship_v1_frigate.yaml
// to objects that the validation webhook must refuse. A key is a JSON merge patch, and
// its value is a part of the error.
var shipv1FrigateRefused = map[string]string{
	// `{"spec": {"foo": ""}}`: "spec.foo",
}

// shipv1FrigateValidation describes the validation webhook as users see it. The API
// server stores nothing.
func shipv1FrigateValidation() {
	const sample = "config/samples/ship_v1_frigate.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("refuses invalid objects", func() {
		if len(shipv1FrigateRefused) == 0 {
			Skip("shipv1FrigateRefused is empty: add an object for each rule of the webhook")
		}
		for change, reason := range shipv1FrigateRefused {
			_, err := createChanged(sample, change, "--dry-run=server")
			Expect(err).To(MatchError(ContainSubstring(reason)), change)
		}
	})
}
