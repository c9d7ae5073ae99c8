/*
Copyright 2024.
*/

package e2e

import (
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.org/fleet/test/utils"
)

const namespace = "fleet-system"

var _ = Describe("controller", Ordered, func() {
	BeforeAll(func() {
		cmd := exec.Command("kubectl", "create", "ns", namespace)
		_, _ = utils.Run(cmd)
	})

	AfterAll(func() {
		cmd := exec.Command("kubectl", "delete", "ns", namespace)
		_, _ = utils.Run(cmd)
	})

	It("should run successfully", func() {
		_, err := utils.Run(exec.Command("make", "deploy", "IMG=example.com/fleet:v0.0.1"))
		Expect(err).NotTo(HaveOccurred())
	})
})
