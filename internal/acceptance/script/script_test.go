package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/testkit/modtest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// TestScript runs the scripts in testdata/script: commands with the output and exit codes
// that a user sees. With -update it rewrites the expected output.
func TestScript(t *testing.T) {
	t.Parallel()
	runScripts(t, repository.Path("testdata", "script"), scriptEnv)
}

// runScripts runs the scripts in a folder.
func runScripts(t *testing.T, dir string, setup func(*testscript.Env) error) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *operontest.Update,
		RequireExplicitExec: true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cached": scriptCached, "go": scriptGo, "operon": scriptOperon, "render": scriptRender,
		},
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
	env.Values[goKey{}] = &goCalls{test: env.T()}
	env.Setenv("GOPROXY", "off")
	env.Setenv("GOGC", "off") // see operontest.NoGC
	env.Setenv("EXTERNAL", modtest.Monitoring)
	env.Setenv("GOLDEN", repository.Path("testdata", "golden"))
	env.Setenv("PLUGINS", repository.Path("testdata", "plugins"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
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

// scriptOperon is the script command `operon`, which runs operon in this process. Scripts use `exec operon` for what
// needs a process of its own: stdin, a terminal, signals, the background, the cache of results, other words of the user
// for plurals, variables of the Go runtime, and another PATH for libraries that look up the go command.
func scriptOperon(ts *testscript.TestScript, neg bool, args []string) {
	code, trace := runOperon(ts, args)
	switch {
	case trace != "":
		ts.Fatalf("operon panics: %s", trace)
	case code != 0 && !neg:
		ts.Fatalf("operon %s: exit code %d", strings.Join(args, " "), code)
	case code == 0 && neg:
		ts.Fatalf("operon %s: unexpected command success", strings.Join(args, " "))
	}
}

// runOperon returns the exit code, and the trace of a panic.
func runOperon(ts *testscript.TestScript, args []string) (code int, trace string) {
	defer func() {
		if reason := recover(); reason != nil {
			trace = fmt.Sprintf("%v\n%s", reason, debug.Stack())
		}
	}()
	env := append(environOf(ts), "PWD="+ts.MkAbs("."))
	return operontest.Do(ts.MkAbs("."), env, ts.Stdout(), ts.Stderr(), args...), ""
}

// scriptRender is the script command `render CHART RELEASE NAMESPACE`, which prints the objects of a chart.
func scriptRender(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: render CHART RELEASE NAMESPACE")
	}
	files := map[string][]byte{}
	dir := os.DirFS(ts.MkAbs(args[0]))
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = fs.ReadFile(dir, name)
		}
		return err
	})
	ts.Check(err)
	c, err := chart.LoadFiles(files)
	ts.Check(err)
	texts, err := chart.Render(c, map[string]any{}, chart.Release{Name: args[1], Namespace: args[2]}, chart.Cluster{Version: "v1.36.0"})
	ts.Check(err)
	objects, err := chart.Objects(texts)
	ts.Check(err)
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		ts.Check(err)
		_, err = fmt.Fprintf(ts.Stdout(), "---\n%s", text)
		ts.Check(err)
	}
}

// environOf returns the environment of a script. Testscript has no function for it: it passes it only to programs.
func environOf(ts *testscript.TestScript) []string {
	lines := reflect.ValueOf(ts).Elem().FieldByName("env")
	env := make([]string, lines.Len())
	for i := range env {
		env[i] = lines.Index(i).String()
	}
	return env
}

// goKey is the key of the goCalls of a script.
type goKey struct{}

// goCalls counts the calls of the script command `go`.
type goCalls struct {
	test testscript.T
	n    int
}

// scriptGo is the script command `go`, for commands that only read the project in the working folder, such as
// `go vet ./...`. Their verdicts are recorded.
func scriptGo(ts *testscript.TestScript, neg bool, args []string) {
	calls, _ := ts.Value(goKey{}).(*goCalls)
	t, ok := calls.test.(testing.TB)
	if neg || !ok {
		ts.Fatalf("the command go cannot be used here; use exec go")
	}
	calls.n++
	projecttest.WantGo(t, fmt.Sprint(path.Base(t.Name()), " ", calls.n), ts.MkAbs("."), args...)
}
