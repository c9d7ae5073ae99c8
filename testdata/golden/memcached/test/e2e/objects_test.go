//go:build e2e

package e2e

import (
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.org/memcached/test/utils"
)

// createChanged creates the object in a file after a change, a JSON merge patch, and
// returns what kubectl prints.
func createChanged(file, change string, args ...string) (string, error) {
	object, err := runKubectl("", "patch", "--local", "--filename", file,
		"--type", "merge", "--patch", change, "--output", "json")
	if err != nil {
		return "", err
	}
	return runKubectl(object, append([]string{"create", "--filename", "-"}, args...)...)
}

// runKubectl runs kubectl in the root of the project and returns what it prints.
func runKubectl(stdin string, args ...string) (string, error) {
	cmd := exec.Command("kubectl", args...)
	cmd.Stdin = strings.NewReader(stdin)
	return utils.Run(cmd)
}

// parseObject parses an object that kubectl printed as JSON.
func parseObject(output string, err error) *unstructured.Unstructured {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{}
	Expect(object.UnmarshalJSON([]byte(output))).To(Succeed())
	return object
}
