//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMakeTest runs `make test` of a new project: with operon, which then does
// all of it, and without. Both run the suite on the API server and leave a
// coverage profile.
func TestMakeTest(t *testing.T) {
	t.Parallel()
	env := onControlPlane("GOFLAGS=" + strings.TrimSpace(goEnv("GOFLAGS")+" -v")) // or go test does not tell what ran
	dir := scaffolded(t)
	operon(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	for name, args := range map[string][]string{
		"operon": {"test"},
		// What controller-gen would generate is there: it need not be fetched.
		"without": {"test", "OPERON=", "CONTROLLER_GEN=true"},
	} {
		out := commandWith(t, env, dir, "make", args...)
		if !strings.Contains(out, "Ran 1 of 1 Specs") || !strings.Contains(out, "ok  \texample.org/fleet/internal/controller\t") {
			t.Errorf("%s: make test prints\n%s", name, out)
		}
		profile := filepath.Join(dir, "cover.out")
		if src, err := os.ReadFile(profile); err != nil || !strings.Contains(string(src), "frigate_controller.go") {
			t.Errorf("%s: the coverage profile: %v\n%s", name, err, src)
		}
		if err := os.Remove(profile); err != nil {
			t.Error(err)
		}
	}
}
