package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/modtest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript runs testdata/script: one page of commands for each thing that a
// user can see. Run with -update to rewrite the expectations.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 repository.Path("testdata", "script"),
		UpdateScripts:       *operontest.Update,
		RequireExplicitExec: true,
		Setup:               scriptEnv,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"answers": scriptAnswers},
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Geteuid() == 0, nil
		},
	})
}

// scriptEnv hands the go command's caches to a script, which otherwise sees
// neither HOME nor the network.
func scriptEnv(env *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN"} {
		env.Setenv(name, operontest.GoEnv(name))
	}
	env.Setenv("GOPROXY", "off")
	env.Setenv("GOGC", "off") // as operontest.NoGC says
	env.Setenv("EXTERNAL", modtest.Monitoring)
	env.Setenv("ASSETS", operontest.Assets())
	env.Setenv("SOURCE_DATE_EPOCH", "1767225600") // 2026-01-01
	state := filepath.Join(env.WorkDir, "state")
	env.Setenv("XDG_STATE_HOME", state)
	env.Setenv("OPERON_CACHE", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("LOCALAPPDATA", state)
	env.Defer(func() { // a control plane that a failed script forgot
		stop := exec.Command("operon", "envtest", "stop", "--all")
		stop.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "LOCALAPPDATA="+state)
		if out, err := stop.CombinedOutput(); err != nil {
			env.T().Fatal(err, string(out))
		}
	})
	return nil
}
