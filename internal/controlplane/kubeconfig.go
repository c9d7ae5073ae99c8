package controlplane

import (
	"encoding/base64"
	"fmt"
)

// kubeconfig returns a kubeconfig with a single context. Its names are unique, so that it
// can be merged into another kubeconfig.
func (c *credentials) kubeconfig(name, user, token string, port int) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: operon-%[1]s
contexts:
- name: operon-%[1]s
  context:
    cluster: operon-%[1]s
    user: operon-%[1]s-%[2]s
clusters:
- name: operon-%[1]s
  cluster:
    server: %[3]s
    certificate-authority-data: %[4]s
users:
- name: operon-%[1]s-%[2]s
  user:
    token: %[5]s
`, name, user, serverURL(port), base64.StdEncoding.EncodeToString(c.ca), token)
}

func serverURL(port int) string { return fmt.Sprintf("https://127.0.0.1:%d", port) }
