//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// seav1FrigateDefaulted changes the object in config/samples/sea_v1_frigate.yaml
// to objects that lack a field. A change is a JSON merge patch, and the JSONPath selects
// the field, which must have the default.
var seav1FrigateDefaulted = []struct{ change, path, want string }{
	// {`{"spec": {"foo": null}}`, "{.spec.foo}", "bar"},
}

// seav1FrigateDefaulting describes the defaulting webhook as users see it. The API
// server stores nothing.
func seav1FrigateDefaulting() {
	const sample = "config/samples/sea_v1_frigate.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("sets defaults", func() {
		if len(seav1FrigateDefaulted) == 0 {
			Skip("seav1FrigateDefaulted is empty: add an object for each default")
		}
		for _, test := range seav1FrigateDefaulted {
			value, err := createChanged(sample, test.change, "--dry-run=server", "--output", "jsonpath="+test.path)
			Expect(err).NotTo(HaveOccurred(), test.change)
			Expect(value).To(Equal(test.want), "%s of the sample with %s", test.path, test.change)
		}
	})
}
