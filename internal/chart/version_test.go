package chart

import (
	"os"
	"strings"
	"testing"
)

// TestHelmVersion compares helmVersion with go.mod.
func TestHelmVersion(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "helm.sh/helm/v3 "+helmVersion+".") {
		t.Errorf("helmVersion is %s, but go.mod has another version of helm.sh/helm/v3", helmVersion)
	}
}
