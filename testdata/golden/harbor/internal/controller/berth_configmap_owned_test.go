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

package controller

// This spec is for berth_configmap_owned.go and uses a function of
// berth_controller_test.go. Delete this file together with either of them.

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	portv1 "example.org/harbor/api/v1"
	corev1 "k8s.io/api/core/v1"
)

var _ = Describe("Berth controller that owns ConfigMap objects", func() {
	It("reconciles a Berth when its ConfigMap changes or is deleted", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return berthReconcilerWith(c).SetupWithManager(mgr)
		})
		owner := &portv1.Berth{}
		createSample("config/samples/port_v1_berth.yaml", owner)

		By("creating an owned ConfigMap")
		owned := &corev1.ConfigMap{}
		placeSample("test/objects/core_v1_configmap.yaml", owned)
		Expect(own(ctx, k8sClient, owner, owned, func() error { return nil })).To(Succeed())

		By("changing it")
		before := counting.settled(owner)
		touch(owned)
		counting.readsMore(owner, before)

		By("deleting it")
		before = counting.settled(owner)
		Expect(k8sClient.Delete(ctx, owned)).To(Succeed())
		counting.readsMore(owner, before)
	})
})
