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
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// mygroupv1DatabaseUserConversion describes the conversion webhook as users see it.
func mygroupv1DatabaseUserConversion() {
	const hub, group, plural = "v1", "mygroup.handsomeguy.cn", "databaseusers"

	// preserves creates the sample of one version, and reads and changes it in another.
	preserves := func(version, other string) {
		GinkgoHelper()
		By("creating the sample of " + version)
		var output string
		Eventually(func() (err error) {
			output, err = createChanged("config/samples/mygroup_"+version+"_databaseuser.yaml", "{}", "--output", "json")
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
