// Package modtest names the public Go modules that tests use. `make modules` downloads them.
package modtest

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// Modules with API types, as the go command takes them.
const (
	Monitoring  = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0" // the smallest
	ClusterAPI  = "sigs.k8s.io/cluster-api/api@v1.14.2"
	GatewayAPI  = "sigs.k8s.io/gateway-api@v1.5.0"
	Kueue       = "sigs.k8s.io/kueue@v0.19.2"
	CertManager = "github.com/cert-manager/cert-manager@v1.20.2"
)

// Dir returns the folder of a module in the module cache.
func Dir(t testing.TB, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Env = append(cmd.Environ(), "GOPROXY=off", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s is not in the module cache (make modules fetches it): %v\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m.Dir
}
