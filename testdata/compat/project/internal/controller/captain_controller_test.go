/*
Copyright 2024.
*/

package controller

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	crewv1 "example.org/fleet/api/v1"
)

var _ = Describe("Captain Controller", func() {
	It("should successfully reconcile the resource", func() {
		ctx := context.Background()
		captain := &crewv1.Captain{ObjectMeta: metav1.ObjectMeta{Name: "test-resource", Namespace: "default"}}
		Expect(k8sClient.Create(ctx, captain)).To(Succeed())
		reconciler := &CaptainReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		_, err := reconciler.Reconcile(ctx, reconcile.Request{
			NamespacedName: types.NamespacedName{Name: captain.Name, Namespace: captain.Namespace},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(k8sClient.Delete(ctx, captain)).To(Succeed())
	})
})
