package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hookScenarios are operators whose logic is hooks. Their last command runs their
// tests, in memory.
var hookScenarios = []string{"secret-copier", "secret-copier-python", "configmap-reloader", "mysql-database", "node-ping"}

// TestHookScenarios goes the way of someone who writes hooks: commands, what is theirs
// in the files that these wrote, and tests. The hooks are configured as the commands
// say, and may do what role.yaml beside the commands says, and nothing else. With that
// the same tests pass on an API server, which they share.
func TestHookScenarios(t *testing.T) {
	t.Parallel()
	env := []string{"XDG_STATE_HOME=" + t.TempDir(), "KUBEBUILDER_ASSETS=" + assetsFolder()}
	commandWith(t, env, "", "operon", "envtest", "start", "--detach", "--name", "hooks")
	t.Cleanup(func() { commandWith(t, env, "", "operon", "envtest", "stop", "--name", "hooks") })
	var server sync.Mutex
	for _, name := range hookScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, scenario := filepath.Join(t.TempDir(), name), filepath.Join(scenarioDir, name)
			start := time.Now()
			out := followScenario(t, dir, scenario)
			t.Logf("%s in memory, and all commands before: %v", name, time.Since(start))
			if !strings.Contains(out, "ok    test/hooks/") {
				t.Errorf("no test was run:\n%s", out)
			}
			for _, check := range []string{"hooks rbac --check", "manifests --check"} {
				operon(t, dir, strings.Fields(check)...)
			}
			role, want := readFile(t, filepath.Join(dir, "config/rbac/role.yaml")), filepath.Join(scenario, "role.yaml")
			if *update {
				if err := os.WriteFile(want, []byte(role), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(readFile(t, want), role); diff != "" {
				t.Errorf("config/rbac/role.yaml is not the scenario's (-want +got):\n%s", diff)
			}
			server.Lock()
			defer server.Unlock()
			start = time.Now()
			commandWith(t, env, dir, "operon", "hooks", "test", "--cluster", "--name", "hooks")
			t.Logf("%s on the API server: %v", name, time.Since(start))
		})
	}
}
