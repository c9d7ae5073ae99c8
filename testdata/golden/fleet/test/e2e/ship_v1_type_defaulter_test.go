//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// shipv1TypeDefaulted changes the object in config/samples/ship_v1_type.yaml
// to objects that lack a field. A change is a JSON merge patch, and the JSONPath selects
// the field, which must have the default.
var shipv1TypeDefaulted = []struct{ change, path, want string }{
	// {`{"spec": {"foo": null}}`, "{.spec.foo}", "bar"},
}

// shipv1TypeDefaulting describes the defaulting webhook as users see it. The API
// server stores nothing.
func shipv1TypeDefaulting() {
	const sample = "config/samples/ship_v1_type.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("sets defaults", func() {
		if len(shipv1TypeDefaulted) == 0 {
			Skip("shipv1TypeDefaulted is empty: add an object for each default")
		}
		for _, test := range shipv1TypeDefaulted {
			value, err := createChanged(sample, test.change, "--dry-run=server", "--output", "jsonpath="+test.path)
			Expect(err).NotTo(HaveOccurred(), test.change)
			Expect(value).To(Equal(test.want), "%s of the sample with %s", test.path, test.change)
		}
	})
}
