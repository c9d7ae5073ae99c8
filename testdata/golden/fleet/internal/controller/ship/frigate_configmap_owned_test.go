package ship

// This spec is for frigate_configmap_owned.go and uses a function of
// frigate_controller_test.go. Delete this file together with either of them.

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	shipv1 "example.org/fleet/api/ship/v1"
	corev1 "k8s.io/api/core/v1"
)

var _ = Describe("Frigate controller that owns ConfigMap objects", func() {
	It("reconciles a Frigate when its ConfigMap changes or is deleted", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return frigateReconcilerWith(c).SetupWithManager(mgr)
		})
		owner := &shipv1.Frigate{}
		createSample("config/samples/ship_v1_frigate.yaml", owner)

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
