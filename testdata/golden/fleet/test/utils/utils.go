package utils

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

// certManager is the release that the end-to-end tests install if the manifests of
// the project need cert-manager.
const certManager = "https://github.com/cert-manager/cert-manager/releases/download/" +
	"v1.20.2/cert-manager.yaml"

// Run runs cmd in the root of the project and returns its stdout. The error of a
// failed command includes its stderr.
func Run(cmd *exec.Cmd) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &stderr
	GinkgoWriter.Printf("running: %s\n", cmd)
	stdout, err := cmd.Output()
	if err != nil {
		return string(stdout), fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
	}
	return string(stdout), nil
}

// Kubectl runs kubectl with the arguments.
func Kubectl(args ...string) (string, error) {
	return Run(exec.Command("kubectl", args...))
}

// KindCluster is the name of the Kind cluster for the end-to-end tests: KIND_CLUSTER,
// or "kind".
func KindCluster() string {
	return cmp.Or(os.Getenv("KIND_CLUSTER"), "kind")
}

// RequireKindCluster returns an error unless the current context of kubectl is
// KindCluster. Tests must not change other clusters.
func RequireKindCluster() error {
	output, err := Kubectl("config", "current-context")
	if err != nil {
		return err
	}
	have, want := strings.TrimSpace(output), "kind-"+KindCluster()
	if have != want {
		return fmt.Errorf("the current context of kubectl is %s, not %s: run `make test-e2e`", have, want)
	}
	return nil
}

// LoadImage copies an image from the local container engine to the nodes of
// KindCluster. The variable KIND selects another kind program.
func LoadImage(image string) error {
	program := cmp.Or(os.Getenv("KIND"), "kind")
	_, err := Run(exec.Command(program, "load", "docker-image", image, "--name", KindCluster()))
	return err
}

// NeedsCertManager reports whether config/default contains cert-manager objects.
func NeedsCertManager() (bool, error) {
	root, err := moduleRoot()
	if err != nil {
		return false, err
	}
	content, err := os.ReadFile(filepath.Join(root, "config", "default", "kustomization.yaml"))
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(content)) {
		if strings.TrimSpace(line) == "- ../certmanager" {
			return true, nil
		}
	}
	return false, nil
}

// InstallCertManager installs cert-manager and waits until its webhook responds. It
// returns false if the cluster has cert-manager already.
func InstallCertManager() (bool, error) {
	if _, err := Kubectl("get", "crd", "certificates.cert-manager.io"); err == nil {
		return false, nil
	}
	if _, err := Kubectl("apply", "-f", certManager); err != nil {
		return true, err
	}
	_, err := Kubectl("wait", "deployment/cert-manager-webhook", "--namespace", "cert-manager",
		"--for", "condition=Available", "--timeout", "5m")
	return true, err
}

// UninstallCertManager deletes what InstallCertManager installed, and the leases that
// cert-manager leaves in kube-system.
func UninstallCertManager() error {
	_, err := Kubectl("delete", "--ignore-not-found", "-f", certManager)
	_, leases := Kubectl("delete", "lease", "--ignore-not-found", "--namespace", "kube-system",
		"cert-manager-controller", "cert-manager-cainjector-leader-election")
	return errors.Join(err, leases)
}
