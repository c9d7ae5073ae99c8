package v2

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.org/fleet/test/utils"
)

// These specs write an object in one version and read it in another. The API server
// calls the webhook for versions that it does not store.

var _ = Describe("Frigate conversion", func() {
	const hub = "v2"
	kind := schema.GroupKind{Group: "ship.example.org", Kind: "Frigate"}

	// read returns the object in the given version.
	read := func(version string, key client.ObjectKey) client.Object {
		GinkgoHelper()
		obj, err := k8sClient.Scheme().New(kind.WithVersion(version))
		Expect(err).NotTo(HaveOccurred())
		typed, ok := obj.(client.Object)
		Expect(ok).To(BeTrue())
		Expect(k8sClient.Get(ctx, key, typed)).To(Succeed())
		return typed
	}
	spec := func(obj client.Object) any {
		GinkgoHelper()
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		Expect(err).NotTo(HaveOccurred())
		return content["spec"]
	}

	// keeps writes the sample in one version, then the same object in the other.
	keeps := func(version, other string) {
		GinkgoHelper()
		By("creating the sample of " + version)
		sample, err := utils.ReadSample("config/samples/ship_" + version + "_frigate.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}
		Expect(k8sClient.Create(ctx, sample)).To(Succeed())
		key := client.ObjectKeyFromObject(sample)
		defer func() { Expect(k8sClient.Delete(ctx, sample)).To(Succeed()) }()
		before := read(version, key)

		By("reading and writing it as " + other)
		converted := read(other, key)
		Expect(converted.GetUID()).To(Equal(before.GetUID()))
		converted.SetLabels(map[string]string{"written-as": other})
		Expect(k8sClient.Update(ctx, converted)).To(Succeed())

		By("reading it as " + version)
		after := read(version, key)
		Expect(after.GetLabels()).To(HaveKeyWithValue("written-as", other))
		Expect(utils.Diff(spec(before), spec(after))).To(BeEmpty(), "the spec before (-) and after (+)")
	}

	crd := func() map[string]any {
		GinkgoHelper()
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		Expect(k8sClient.Get(ctx, client.ObjectKey{Name: "frigates.ship.example.org"}, crd)).To(Succeed())
		return crd.Object
	}

	It("uses the webhook", func() {
		strategy, _, err := unstructured.NestedString(crd(), "spec", "conversion", "strategy")
		Expect(err).NotTo(HaveOccurred())
		Expect(strategy).To(Equal("Webhook"), "a version in the scheme of this suite cannot be converted")
	})

	It("preserves objects between the hub and every other version", func() {
		// The client knows only the versions that other specs used.
		versions, _, err := unstructured.NestedSlice(crd(), "spec", "versions")
		Expect(err).NotTo(HaveOccurred())
		Expect(len(versions)).To(BeNumerically(">", 1), "no version to convert")
		for _, item := range versions {
			version, ok := item.(map[string]any)
			Expect(ok).To(BeTrue())
			if name, _ := version["name"].(string); name != hub && version["served"] == true {
				keeps(name, hub)
				keeps(hub, name)
			}
		}
	})
})
