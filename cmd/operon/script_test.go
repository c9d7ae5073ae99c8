package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite expected files")

func TestMain(m *testing.M) {
	// Suites wait for their control planes, while other tests have work to do.
	// The flag -parallel, parsed later, wins.
	_ = flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
	testscript.Main(cached{m}, map[string]func(){
		"operon": main,
	})
}

// cached runs the tests with a cache of their own, and with Python itself where a
// version manager's script stands for it: hooks start it thousands of times, and the
// script takes as long as Python does.
type cached struct{ *testing.M }

func (c cached) Run() int {
	dir, err := os.MkdirTemp("", "operon-cache-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		panic(err)
	}
	if err := os.Symlink(strings.TrimSpace(string(python)), filepath.Join(dir, "python3")); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"OPERON_CACHE": filepath.Join(dir, "cache"),
		"PATH":         dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return c.M.Run()
}

// TestScript runs testdata/script: one page of commands for each thing that a
// user can see. Run with -update to rewrite the expectations.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts:       *update,
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
		env.Setenv(name, goEnv(name))
	}
	env.Setenv("GOPROXY", "off")
	env.Setenv("GOGC", "off") // as uncollected says
	env.Setenv("EXTERNAL", external)
	env.Setenv("ASSETS", assetsFolder())
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

// external is a small module with API types, which `make modules` fetches.
const external = "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0"

// assetsFolder is where the programs of a control plane are; `make test` builds
// them. Without them it is empty, and what needs them fails.
var assetsFolder = sync.OnceValue(func() string {
	out, _ := exec.Command("operon", "envtest", "path").Output()
	return strings.TrimSpace(string(out))
})

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		panic(err) // the tests are run by the go command
	}
	return strings.TrimSpace(string(out))
}
