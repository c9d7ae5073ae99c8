//go:build e2e

package e2e

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// shipv2FrigateConversion describes the conversion webhook as users see it.
func shipv2FrigateConversion() {
	const hub, group, plural = "v2", "ship.example.org", "frigates"

	// preserves creates the sample of one version, and reads and changes it in another.
	preserves := func(version, other string) {
		GinkgoHelper()
		By("creating the sample of " + version)
		var output string
		Eventually(func() (err error) {
			output, err = createChanged("config/samples/ship_"+version+"_frigate.yaml", "{}", "--output", "json")
			return err
		}).Should(Succeed())
		before := parseObject(output, nil)
		on := func(verb, version string, args ...string) (string, error) {
			return runKubectl("", append([]string{verb, plural + "." + version + "." + group, before.GetName(),
				"--namespace=" + before.GetNamespace()}, args...)...)
		}
		defer func() {
			_, err := on("delete", version, "--timeout", "1m")
			Expect(err).NotTo(HaveOccurred())
		}()

		By("reading and changing it as " + other)
		converted := parseObject(on("get", other, "--output", "json"))
		Expect(converted.GetAPIVersion()).To(Equal(group + "/" + other))
		Expect(converted.GetUID()).To(Equal(before.GetUID()))
		_, err := on("label", other, "written-as="+other)
		Expect(err).NotTo(HaveOccurred())

		By("reading it as " + version)
		after := parseObject(on("get", version, "--output", "json"))
		Expect(after.GetLabels()).To(HaveKeyWithValue("written-as", other))
		Expect(after.Object["spec"]).To(Equal(before.Object["spec"]))
	}

	It("preserves objects between the hub and every other version", func() {
		output, err := runKubectl("", "get", "crd", plural+"."+group,
			"--output", "jsonpath={.spec.versions[?(@.served==true)].name}")
		Expect(err).NotTo(HaveOccurred())
		served := strings.Fields(output)
		Expect(len(served)).To(BeNumerically(">", 1), "no version to convert")
		for _, version := range served {
			if version != hub {
				preserves(version, hub)
				preserves(hub, version)
			}
		}
	})
}
