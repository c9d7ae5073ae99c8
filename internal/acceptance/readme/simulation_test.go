//go:build testall

package readme

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// simulationHook runs for two schedules in different queues. The runs fail when they
// overlap, and apply the operations in OPERATIONS.
const simulationHook = `#!/usr/bin/env bash
if [[ ${1:-} == --config ]]; then
  cat <<'END'
configVersion: v1
onStartup: 1
settings: {executionMinInterval: 10m, executionBurst: 1}
schedule:
- {name: first, crontab: "* * * * * *", queue: first}
- {name: second, crontab: "* * * * * *", queue: second}
END
  exit
fi
mkdir lock || exit 1
sleep 0.1
printf '%s' "${OPERATIONS:-}" >"$KUBERNETES_PATCH_PATH"
${COMMAND:-true}
rmdir lock
`

// simulationTests demonstrates each difference between hook tests and a cluster, by
// the first words of its item in docs/hook-tests.md. If a test fails, the difference no
// longer exists, or has changed.
var simulationTests = map[string]string{
	"Schedules run when a test says so": `
  env: {COMMAND: sleep 1.5}
  events: [{schedule: first}, {schedule: first}] # the settings allow one run in ten minutes
  expect: {runs: 5} # with the start, and for each event one in each queue
`,
	"The garbage collector and the aggregation of ClusterRoles are the only controllers.": `
  given:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: default}
    spec:
      selector: {matchLabels: {app: web}}
      template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
  expect: {absent: [{apiVersion: apps/v1, kind: ReplicaSet}, {apiVersion: v1, kind: Pod}]}
`,
	"Queues take turns, one task at a time.": `
  events: [{schedule: first}]
  expect: {runs: 3, exitCode: 0}
`,
}

// TestSimulation shows that docs/hook-tests.md lists what hook tests do not simulate,
// and nothing else.
func TestSimulation(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(page(t, "docs/hook-tests.md"), "\n## What is simulated\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, item := range regexp.MustCompile(`(?m)^- (.*)$`).FindAllStringSubmatch(section, -1) {
		listed = append(listed, item[1])
	}
	slices.Sort(listed)
	demonstrated := slices.Sorted(maps.Keys(simulationTests))
	if !slices.EqualFunc(listed, demonstrated, strings.HasPrefix) {
		t.Errorf("docs/hook-tests.md lists other differences than this test demonstrates (-demonstrated +listed):\n%s", cmp.Diff(demonstrated, listed))
	}
	operontest.ControlPlane(t)
	for name, test := range simulationTests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range map[string]string{"hooks/hook.sh": simulationHook, "test.yaml": "hook: hook.sh\ntests:\n- name: difference" + test} {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			operontest.Run(t, dir, "hooks", "test", "test.yaml")
		})
	}
}
