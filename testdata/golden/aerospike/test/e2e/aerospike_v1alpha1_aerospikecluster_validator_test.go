//go:build e2e

/*
Copyright 2026 Dmitrii Zolotov.

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

// aerospikev1alpha1AerospikeClusterRefused changes the object in config/samples/aerospike_v1alpha1_aerospikecluster.yaml
// to objects that the validation webhook must refuse. A key is a JSON merge patch, and
// its value is a part of the error.
var aerospikev1alpha1AerospikeClusterRefused = map[string]string{
	// `{"spec": {"foo": ""}}`: "spec.foo",
}

// aerospikev1alpha1AerospikeClusterValidation describes the validation webhook as users see it. The API
// server stores nothing.
func aerospikev1alpha1AerospikeClusterValidation() {
	const sample = "config/samples/aerospike_v1alpha1_aerospikecluster.yaml"

	It("admits the sample", func() {
		Eventually(func() error {
			_, err := createChanged(sample, "{}", "--dry-run=server")
			return err
		}).Should(Succeed())
	})

	It("refuses invalid objects", func() {
		if len(aerospikev1alpha1AerospikeClusterRefused) == 0 {
			Skip("aerospikev1alpha1AerospikeClusterRefused is empty: add an object for each rule of the webhook")
		}
		for change, reason := range aerospikev1alpha1AerospikeClusterRefused {
			_, err := createChanged(sample, change, "--dry-run=server")
			Expect(err).To(MatchError(ContainSubstring(reason)), change)
		}
	})
}
