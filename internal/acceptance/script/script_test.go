package script

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/modtest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript runs the scripts in testdata/script: commands with the output and exit codes
// that a user sees. With -update it rewrites the expected output.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 repository.Path("testdata", "script"),
		UpdateScripts:       *operontest.Update,
		RequireExplicitExec: true,
		Setup:               scriptEnv,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"cached": scriptCached, "go": scriptGo},
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Geteuid() == 0, nil
		},
	})
}

// scriptEnv gives a script the caches of the go command, but neither HOME nor the network.
func scriptEnv(env *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN"} {
		env.Setenv(name, operontest.GoEnv(name))
	}
	env.Values[testKey{}] = env.T()
	env.Setenv("GOPROXY", "off")
	env.Setenv("GOGC", "off") // see operontest.NoGC
	env.Setenv("EXTERNAL", modtest.Monitoring)
	env.Setenv("GOLDEN", repository.Path("testdata", "golden"))
	env.Setenv("PLUGINS", repository.Path("testdata", "plugins"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("ASSETS", operontest.Assets())
	env.Setenv("SOURCE_DATE_EPOCH", "1767225600") // 2026-01-01
	state := filepath.Join(env.WorkDir, "state")
	env.Setenv("XDG_STATE_HOME", state)
	env.Setenv("OPERON_CACHE", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("LOCALAPPDATA", state)
	env.Defer(func() { // a failed script may leave a control plane running
		if _, err := os.Stat(filepath.Join(state, "operon")); errors.Is(err, fs.ErrNotExist) {
			return // it started none
		}
		stop := exec.Command("operon", "envtest", "stop", "--all")
		stop.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "LOCALAPPDATA="+state)
		if out, err := stop.CombinedOutput(); err != nil {
			env.T().Fatal(err, string(out))
		}
	})
	return nil
}

// testKey is the key of the test that runs a script.
type testKey struct{}

// scriptGo is the script command `go`, for commands that only read the project in the working folder, such as
// `go vet ./...`. The answer for the same files is remembered: vetting takes longer than most scripts do otherwise.
func scriptGo(ts *testscript.TestScript, neg bool, args []string) {
	t, ok := ts.Value(testKey{}).(testing.TB)
	if neg || !ok {
		ts.Fatalf("the command go cannot be used here; use exec go")
	}
	if a := projecttest.AskGo(t, ts.MkAbs("."), args...); a.Code != 0 {
		ts.Fatalf("go %s: exit code %d\n%s%s", strings.Join(args, " "), a.Code, a.Stdout, a.Stderr)
	}
}
