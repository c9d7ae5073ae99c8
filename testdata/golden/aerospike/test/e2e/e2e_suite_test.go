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

// Package e2e deploys the operator to a Kind cluster, as a user would, and tests it
// from outside. `make test-e2e` creates the cluster and runs the tests.
package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"aerospike/test/utils"
)

// managerImage is built from the Dockerfile and loaded into the cluster without a
// registry.
const managerImage = "example.com/aerospike:e2e"

// TestE2E changes the Kind cluster, and refuses any other cluster.
func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "end-to-end suite")
}

var _ = BeforeSuite(func() {
	Expect(utils.RequireKindCluster()).To(Succeed())

	By("building the image of the manager")
	_, err := utils.Run(exec.Command("make", "docker-build", "IMG="+managerImage))
	Expect(err).NotTo(HaveOccurred())

	By("loading the image into the Kind cluster")
	Expect(utils.LoadImage(managerImage)).To(Succeed())

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
