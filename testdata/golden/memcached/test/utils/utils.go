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
	"v1.21.1/cert-manager.yaml"

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

// kindPrefix starts the name of the context of each Kind cluster.
const kindPrefix = "kind-"

// E2EContext is the context for the end-to-end tests: E2E_CONTEXT, or else that of the
// Kind cluster KIND_CLUSTER. The current context does not count, so that the tests
// change only a cluster that was named.
func E2EContext() string {
	return cmp.Or(os.Getenv("E2E_CONTEXT"), kindPrefix+cmp.Or(os.Getenv("KIND_CLUSTER"), "kind"))
}

// UseCluster writes a kubeconfig that has only E2EContext, with a default namespace, and
// makes this process and its commands use it.
func UseCluster(kubeconfig, namespace string) error {
	name := E2EContext()
	config, err := Kubectl("config", "view", "--minify", "--flatten", "--context", name)
	if err != nil {
		return fmt.Errorf("run `make test-e2e`, or set E2E_CONTEXT to a context of your kubeconfig: %w", err)
	}
	if os.Getenv("E2E_IMAGE") == "" && !strings.HasPrefix(name, kindPrefix) {
		return fmt.Errorf("%s is not a Kind cluster: set E2E_IMAGE to an image that it can pull", name)
	}
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		return err
	}
	if err := os.Setenv("KUBECONFIG", kubeconfig); err != nil {
		return err
	}
	_, err = Kubectl("config", "set-context", name, "--namespace", namespace)
	return err
}

// LoadImage copies an image from the local container engine to the nodes of the Kind
// cluster. The variable KIND selects another kind program.
func LoadImage(image string) error {
	program, cluster := cmp.Or(os.Getenv("KIND"), "kind"), strings.TrimPrefix(E2EContext(), kindPrefix)
	_, err := Run(exec.Command(program, "load", "docker-image", image, "--name", cluster))
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
