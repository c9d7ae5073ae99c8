//go:build e2e

/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// corev1PodDefaulted changes the object in test/objects/core_v1_pod.yaml
// to objects that lack a field. A change is a JSON merge patch, and the JSONPath selects
// the field, which must have the default.
var corev1PodDefaulted = []struct{ change, path, want string }{
	// {`{"spec": {"foo": null}}`, "{.spec.foo}", "bar"},
}

// corev1PodDefaulting describes the defaulting webhook as users see it. The API
// server stores nothing.
func corev1PodDefaulting() {
	const sample = "test/objects/core_v1_pod.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("sets defaults", func() {
		if len(corev1PodDefaulted) == 0 {
			Skip("corev1PodDefaulted is empty: add an object for each default")
		}
		for _, test := range corev1PodDefaulted {
			value, err := createChanged(sample, test.change, "--dry-run=server", "--output", "jsonpath="+test.path)
			Expect(err).NotTo(HaveOccurred(), test.change)
			Expect(value).To(Equal(test.want), "%s of the sample with %s", test.path, test.change)
		}
	})
}
