package cluster

import (
	"os"
	"path/filepath"
)

// KubeconfigDir is a temporary folder with the kubeconfig of a cluster, for programs
// such as kubectl in hooks. Only the current user can read it.
type KubeconfigDir struct {
	dir     string
	cluster *Cluster
}

// NewKubeconfigDir creates a folder. The caller removes it with Remove.
func (c *Cluster) NewKubeconfigDir() (KubeconfigDir, error) {
	dir, err := os.MkdirTemp("", "operon-kube-") // 0700
	if err != nil {
		return KubeconfigDir{}, err
	}
	d := KubeconfigDir{dir, c}
	if err := os.WriteFile(d.Kubeconfig(), c.Kubeconfig, 0o600); err != nil {
		d.Remove()
		return KubeconfigDir{}, err
	}
	return d, nil
}

// Kubeconfig is the path of the file.
func (d KubeconfigDir) Kubeconfig() string { return filepath.Join(d.dir, "config") }

// Env returns the variables that make programs use the kubeconfig, in the form of
// os.Environ. The engine's namespace is the namespace of the context.
func (d KubeconfigDir) Env() []string {
	return []string{"KUBECONFIG=" + d.Kubeconfig(), "SHELL_OPERATOR_NAMESPACE=" + d.cluster.Namespace}
}

// WriteFile writes a file next to the kubeconfig and returns its path.
func (d KubeconfigDir) WriteFile(name string, content []byte) (string, error) {
	path := filepath.Join(d.dir, name)
	return path, os.WriteFile(path, content, 0o600)
}

// Path is the path of the folder.
func (d KubeconfigDir) Path() string { return d.dir }

// Remove removes the folder and its content.
func (d KubeconfigDir) Remove() { _ = os.RemoveAll(d.dir) }
