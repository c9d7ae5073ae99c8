//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// cachev1alpha1MemcachedRefused changes the object in config/samples/cache_v1alpha1_memcached.yaml
// to objects that the validation webhook must refuse. A key is a JSON merge patch, and
// its value is a part of the error.
var cachev1alpha1MemcachedRefused = map[string]string{
	// `{"spec": {"foo": ""}}`: "spec.foo",
}

// cachev1alpha1MemcachedValidation describes the validation webhook as users see it. The API
// server stores nothing.
func cachev1alpha1MemcachedValidation() {
	const sample = "config/samples/cache_v1alpha1_memcached.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("refuses invalid objects", func() {
		if len(cachev1alpha1MemcachedRefused) == 0 {
			Skip("cachev1alpha1MemcachedRefused is empty: add an object for each rule of the webhook")
		}
		for change, reason := range cachev1alpha1MemcachedRefused {
			_, err := createChanged(sample, change, "--dry-run=server")
			Expect(err).To(MatchError(ContainSubstring(reason)), change)
		}
	})
}
