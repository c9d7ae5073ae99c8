package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
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
			dir, err := downloaded(f.module)
			if err != nil {
				t.Fatal(err)
			}
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

// downloaded returns the folder of a module in the module cache.
func downloaded(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil || m.Error != "" || err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, m.Error)
	}
	return m.Dir, nil
}
