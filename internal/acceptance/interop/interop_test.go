//go:build unix && testall

package interop

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// interopSteps are the steps in each project: commands of one of the tools, or OLDER, which
// registers the types with controller-runtime's scheme builder.
var interopSteps = map[string][]string{
	"operon project": {
		"operon init --domain example.org --repo example.org/fleet",
		"operon create api --group ship --version v1 --kind Frigate",
		"kubebuilder create api --group ship --version v1 --kind Sloop --resource --controller",
		"kubebuilder create webhook --group ship --version v1 --kind Frigate --defaulting",
		"operon create webhook --group ship --version v1 --kind Frigate --programmatic-validation",
		"operon create webhook --group ship --version v1 --kind Sloop --defaulting",
		"kubebuilder create webhook --group ship --version v1 --kind Sloop --programmatic-validation",
		"kubebuilder create api --group ship --version v2 --kind Frigate --resource --controller=false",
		"kubebuilder create webhook --group ship --version v2 --kind Frigate --conversion --spoke v1",
		"operon create webhook --group ship --version v2 --kind Frigate --conversion --spoke v1",
		"kubebuilder create api --group ship --version v1 --kind Frigate --resource=false --controller --controller-name frigate-backup",
		"kubebuilder create api --group apps --version v1 --kind Deployment --resource=false --controller",
		"kubebuilder create webhook --group core --version v1 --kind Pod --defaulting",
		"kubebuilder edit --namespaced --force",
		"kubebuilder edit --namespaced=false --license copyright --owner Fleet",
		"operon create api --group ship --version v1 --kind Galley",
		"operon create api --group ship --version v1 --kind Cutter --image cutter:1 --image-container-command cutter,-v --image-container-port 80 --run-as-user 1001",
		"kubebuilder create webhook --group ship --version v1 --kind Cutter --programmatic-validation",
		"kubebuilder create api --group ship --version v1 --kind Barge --image barge:1 --plugins deploy-image/v1-alpha --manifests=false",
		"operon edit --plugins grafana,autoupdate,helm",
		"kubebuilder edit --plugins grafana/v1-alpha",
		"operon generate",
		"kubebuilder edit --multigroup",
		"kubebuilder create api --group crew --version v1 --kind Sailor --resource --controller",
	},
	"kubebuilder project": {
		"kubebuilder init --domain example.org --repo example.org/fleet",
		"kubebuilder create api --group ship --version v1 --kind Frigate --resource --controller",
		"operon create api --group ship --version v1 --kind Sloop",
		"operon create webhook --group ship --version v1 --kind Frigate --defaulting",
		"kubebuilder create webhook --group ship --version v1 --kind Frigate --programmatic-validation",
		"kubebuilder create webhook --group ship --version v1 --kind Sloop --defaulting",
		"operon create webhook --group ship --version v1 --kind Sloop --programmatic-validation",
		"operon create api --group ship --version v2 --kind Frigate --controller=false",
		"operon create webhook --group ship --version v2 --kind Frigate --conversion --spoke v1",
		"operon create api --group ship --version v1 --kind Frigate --resource=false --controller-name frigate-backup",
		"operon create api --group apps --version v1 --kind Deployment --resource=false",
		"operon create webhook --group core --version v1 --kind Pod --defaulting",
		"operon edit --namespaced",
		"operon edit --namespaced=false --license copyright --owner Fleet",
		"kubebuilder create api --group ship --version v1 --kind Galley --resource --controller",
		"kubebuilder create api --group ship --version v1 --kind Barge --image barge:1 --image-container-command barge,-v --image-container-port 80 --run-as-user 1001 --plugins deploy-image/v1-alpha --manifests=false",
		"operon create api --group ship --version v1 --kind Cutter --image cutter:1 --image-container-port 80 --plugins deploy-image/v1-alpha",
		"operon create webhook --group ship --version v1 --kind Barge --programmatic-validation",
		"operon edit --multigroup",
		"kubebuilder create api --group crew --version v1 --kind Sailor --resource --controller",
		"kubebuilder edit --plugins grafana/v1-alpha,autoupdate/v1-alpha",
		"operon create api --group crew --version v1 --kind Captain",
		"operon edit --plugins grafana,autoupdate",
		"operon edit --plugins helm",
		"kubebuilder create api --group crew --version v1 --kind Cook --resource --controller",
	},
	"plugins of an operon project": {
		"operon init --domain example.org --repo example.org/fleet",
		"operon create api --group ship --version v1 --kind Frigate",
		"operon edit --plugins helm",
		"operon edit --plugins grafana",
		"kubebuilder edit --plugins grafana.kubebuilder.io/v1-alpha",
		"kubebuilder create api --group ship --version v1 --kind Sloop --resource --controller",
		"operon create webhook --group ship --version v1 --kind Sloop --defaulting",
		"operon chart validate",
		"operon edit --plugins autoupdate",
		"operon create api --group ship --version v1 --kind Galley --image galley:1",
		"operon chart validate",
	},
	"plugins of a kubebuilder project": {
		"kubebuilder init --domain example.org --repo example.org/fleet",
		"kubebuilder create api --group ship --version v1 --kind Frigate --resource --controller",
		"kubebuilder edit --plugins helm.kubebuilder.io/v2-alpha",
		"kubebuilder edit --plugins autoupdate.kubebuilder.io/v1-alpha",
		"operon edit --plugins grafana",
		"operon edit --plugins helm", // warns that the chart is kubebuilder's
		"operon create api --group ship --version v1 --kind Sloop",
		"kubebuilder edit --plugins grafana.kubebuilder.io/v1-alpha",
		"kubebuilder edit --plugins helm.kubebuilder.io/v2-alpha",
		"operon edit --plugins helm --output-dir charts",
		"operon create api --group ship --version v1 --kind Galley",
		"operon chart validate",
	},
	"older kubebuilder project": {
		"kubebuilder init --domain example.org --repo example.org/fleet",
		"kubebuilder create api --group ship --version v1 --kind Frigate --resource --controller",
		"OLDER",
		"operon create api --group ship --version v1 --kind Sloop",
		"operon create webhook --group ship --version v1 --kind Sloop --defaulting --programmatic-validation",
		"kubebuilder create webhook --group ship --version v1 --kind Frigate --defaulting",
		"kubebuilder create api --group ship --version v2 --kind Sloop --resource --controller=false",
		"operon create webhook --group ship --version v2 --kind Sloop --conversion --spoke v1",
	},
}

// TestInterop runs operon and kubebuilder in turn in one project: in one that operon
// scaffolded, in one of kubebuilder, in both with the plugins of both tools, and in one with the scheme
// registration of older versions. After each step, the manifests build, and PROJECT has lost nothing. Before the
// tool changes, the code passes go vet, which compiles it with its tests.
func TestInterop(t *testing.T) {
	t.Parallel()
	kubebuilder := newPeer(t)
	for name, steps := range interopSteps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sharedProject{t, filepath.Join(t.TempDir(), "fleet"), kubebuilder}
			treetest.MakeDir(t, x.dir)
			for i, step := range steps {
				t.Log(step)
				x.step(step)
				if i == len(steps)-1 || tool(step) != tool(steps[i+1]) {
					projecttest.GoCommand(t, x.dir, "vet", "./...")
				}
			}
			projecttest.Build(t, x.dir)
		})
	}
}

// tool returns the first word of a step.
func tool(step string) string {
	name, _, _ := strings.Cut(step, " ")
	return name
}
