//go:build unix && testall

package projects

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// fakeKubectl prints the API versions of a cluster without extensions, and records other calls.
const fakeKubectl = `#!/bin/sh
case "$1" in
kustomize) exec "$ASSETS/kubectl" "$@" ;;
api-versions) printf '%s\n' v1 apps/v1 rbac.authorization.k8s.io/v1 apiextensions.k8s.io/v1 admissionregistration.k8s.io/v1 networking.k8s.io/v1 ;;
*) cat >/dev/null; echo "$*" >>"$CALLS" ;;
esac
`

// TestDeployChecksAPIs checks that make deploy writes nothing into a cluster that lacks an API
// of the manifests, and names each such API in one line.
func TestDeployChecksAPIs(t *testing.T) {
	t.Parallel()
	for name, alternative := range map[string]string{
		"harbor":  "run operon edit --webhook-certs self",
		"watcher": "run make certificate",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, os.DirFS(goldentest.Dir(name))); err != nil {
				t.Fatal(err)
			}
			calls, kubectl := filepath.Join(t.TempDir(), "calls"), filepath.Join(t.TempDir(), "kubectl")
			if err := os.WriteFile(kubectl, []byte(fakeKubectl), 0o755); err != nil {
				t.Fatal(err)
			}
			deploy := func() (lines []string, applied bool) {
				cmd := exec.Command("make", "deploy", "OPERON=", "CONTROLLER_GEN=true", "KUBECTL="+kubectl, "KUSTOMIZE="+kubectl+" kustomize")
				cmd.Dir = dir
				cmd.Env = operontest.Environ("CALLS="+calls, "ASSETS="+operontest.Assets())
				out, err := cmd.CombinedOutput()
				for line := range strings.Lines(string(out)) {
					if strings.HasPrefix(line, "error: ") {
						lines = append(lines, strings.TrimSpace(line))
					}
				}
				if (err == nil) != (len(lines) == 0) {
					t.Fatalf("%v\n%s", err, out)
				}
				_, err = os.Stat(calls)
				return lines, err == nil
			}
			entries := filepath.Join(dir, "config", "default", "kustomization.yaml")
			edit := func(old, next string) {
				src, err := os.ReadFile(entries)
				if err != nil || !strings.Contains(string(src), old) {
					t.Fatalf("%v\n%s", err, src)
				}
				if err := os.WriteFile(entries, []byte(strings.Replace(string(src), old, next, 1)), 0o644); err != nil {
					t.Fatal(err)
				}
			}

			edit("#- ../prometheus", "- ../prometheus")
			lines, applied := deploy()
			if applied || len(lines) != 2 ||
				!strings.HasPrefix(lines[0], "error: the cluster does not serve cert-manager.io/v1: install cert-manager with kubectl apply -f https://") || !strings.HasSuffix(lines[0], alternative) ||
				lines[1] != "error: the cluster does not serve monitoring.coreos.com/v1: install the Prometheus operator, or comment out ../prometheus in config/default/kustomization.yaml" {
				t.Errorf("applied: %t\n%s", applied, strings.Join(lines, "\n"))
			}

			edit("- ../prometheus", "#- ../prometheus")
			if name == "harbor" {
				operontest.Run(t, dir, "edit", "--webhook-certs", "self", "--make=false")
			} else {
				edit("- ../certmanager", "#- ../certmanager")
			}
			if lines, applied := deploy(); !applied || len(lines) > 0 {
				t.Errorf("applied: %t\n%s", applied, strings.Join(lines, "\n"))
			}
		})
	}
}
