//go:build e2e

// Package e2e deploys the operator to a cluster, as a user would, and tests it from
// outside. `make test-e2e` creates a Kind cluster and runs the tests there, or in the
// context E2E_CONTEXT of your kubeconfig.
package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.org/memcached/test/utils"
)

// managerImage is E2E_IMAGE, which the cluster must be able to pull. Without it, the
// suite builds the image and loads it into the Kind cluster without a registry.
var managerImage = cmp.Or(os.Getenv("E2E_IMAGE"), "example.com/memcached:e2e")

// TestE2E never uses the current context of the kubeconfig: see utils.UseCluster.
func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "end-to-end suite")
}

var _ = BeforeSuite(func() {
	Expect(utils.UseCluster(filepath.Join(GinkgoT().TempDir(), "kubeconfig"), namespace)).To(Succeed())

	if os.Getenv("E2E_IMAGE") == "" {
		By("building the image of the manager")
		_, err := utils.Run(exec.Command("make", "docker-build", "IMG="+managerImage))
		Expect(err).NotTo(HaveOccurred())

		By("loading the image into the Kind cluster")
		Expect(utils.LoadImage(managerImage)).To(Succeed())
	}

	needed, err := utils.NeedsCertManager()
	Expect(err).NotTo(HaveOccurred())
	if skip, _ := strconv.ParseBool(os.Getenv("CERT_MANAGER_INSTALL_SKIP")); skip || !needed {
		return
	}
	By("installing cert-manager")
	installed, err := utils.InstallCertManager()
	if installed {
		DeferCleanup(utils.UninstallCertManager)
	}
	Expect(err).NotTo(HaveOccurred())
})
