package projects

import (
	"maps"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestGoldenProjects builds, vets and tests every golden project in Go, on a real API
// server. go.mod and the formatting are final, and controller-gen generates the same files.
func TestGoldenProjects(t *testing.T) {
	t.Parallel()
	controllerGen := peertest.Find(t, "controller-gen")
	for _, name := range goldentest.Names(t) {
		dir := goldentest.Dir(name)
		if !goldentest.IsGo(name) {
			continue // the package hooks tests it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			projecttest.Check(t, dir)

			const header = "hack/boilerplate.go.txt"
			files, sources := treetest.Read(t, dir), projecttest.GoFiles(t, dir)
			sources[header] = files[header]
			made := controllerGen.Ask(t, peertest.Question{
				Args: []string{"rbac:roleName=manager-role", "crd", "webhook", "applyconfiguration:headerFile=" + header, "object:headerFile=" + header, "paths=./...", "output:crd:artifacts:config=config/crd/bases"},
				Env:  []string{"GOPROXY=off", "GOWORK=off"}, Files: sources,
			})
			if made.Code != 0 || len(made.Written) == 0 {
				t.Errorf("controller-gen: exit code %d\n%s", made.Code, made.Stderr)
			}
			again := maps.Clone(files)
			maps.Copy(again, made.Written)
			if diff := treetest.Diff(again, files); diff != "" {
				t.Errorf("controller-gen makes other files (-controller-gen +operon):\n%s", diff)
			}
		})
	}
}
