package cluster

import (
	"os"
	"path/filepath"
)

// Home is a folder with the kubeconfig of a cluster, for programs such as the
// kubectl of hooks. Only the user can read it.
type Home struct {
	dir     string
	cluster *Cluster
}

// Home makes one, to be removed.
func (c *Cluster) Home() (Home, error) {
	dir, err := os.MkdirTemp("", "operon-kube-") // 0700
	if err != nil {
		return Home{}, err
	}
	h := Home{dir, c}
	if err := os.WriteFile(h.Kubeconfig(), c.Kubeconfig, 0o600); err != nil {
		h.Remove()
		return Home{}, err
	}
	return h, nil
}

// Kubeconfig is the path of the file.
func (h Home) Kubeconfig() string { return filepath.Join(h.dir, "config") }

// Env is what makes programs use it, in the form of os.Environ. The engine's
// namespace is that of the context.
func (h Home) Env() []string {
	return []string{"KUBECONFIG=" + h.Kubeconfig(), "SHELL_OPERATOR_NAMESPACE=" + h.cluster.Namespace}
}

// Put writes a file beside the kubeconfig, and returns its path.
func (h Home) Put(name string, content []byte) (string, error) {
	path := filepath.Join(h.dir, name)
	return path, os.WriteFile(path, content, 0o600)
}

// Dir is the folder.
func (h Home) Dir() string { return h.dir }

// Remove removes the folder and all in it.
func (h Home) Remove() { _ = os.RemoveAll(h.dir) }
