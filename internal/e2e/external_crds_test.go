//go:build testall

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/testkit/modtest"
)

// externalCRDs are the CRDs of other projects for objects in config/, as files in their
// modules. `make modules` downloads the modules.
var externalCRDs = []struct {
	module string
	crds   []string
}{
	{"github.com/cert-manager/cert-manager@" + pins.CertManager, []string{
		"deploy/crds/cert-manager.io_certificates.yaml",
		"deploy/crds/cert-manager.io_issuers.yaml",
	}},
	{"github.com/prometheus-operator/prometheus-operator@v0.91.0", []string{
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
	}},
}

// provideExternalCRDs installs the external CRDs once and never removes them.
func (c *controlPlane) provideExternalCRDs(t *testing.T) {
	t.Helper()
	c.externalCRDsOnce.Do(func() {
		for _, f := range externalCRDs {
			dir := modtest.Dir(t, f.module)
			for _, name := range f.crds {
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				for _, crd := range objects(t, string(text)) {
					c.apply(t, crd)
					eventually(t, "serve "+crd.GetName(), func() error { return c.established(t, crd) })
				}
			}
		}
	})
}
