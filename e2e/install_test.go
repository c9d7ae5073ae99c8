package e2e

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"testing"
)

// installation is what a project's config/default made on a control plane.
type installation struct {
	*project
	cluster   *controlPlane
	namespace string // the manager's
	certs     string // the folder with the webhook server's tls.crt and tls.key
	objects   []*unstructured.Unstructured
}

// install builds config/default with the kustomize library and applies it into
// a namespace of its own. Webhooks and conversions call the manager on this
// machine: their service becomes a url, with the harness's CA.
func install(t *testing.T, c *controlPlane, p *project) *installation {
	t.Helper()
	panic("D")
}
