// Package operontest runs operon in tests: in the process of the tests, with a working folder, an
// environment and streams of its own. That takes a fraction of the time of a program that starts.
//
// Tests of signals, terminals, shells and what else needs a process start the program operon, which is
// first on PATH. It is the test binary under another name, so nothing is built twice.
//
//	func TestMain(m *testing.M) { os.Exit(operontest.Main(m)) }
package operontest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/cli"
	_ "github.com/operon-dev/operon/internal/memory" // as in the program
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/testlog"
)

// Update is the flag -update: tests that compare with files rewrite them.
var Update = flag.Bool("update", false, "rewrite expected files")

// Main calls ActAsOperon and Setup, runs the tests of a package and returns their exit code.
func Main(m *testing.M) int {
	ActAsOperon()
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	// Several operons share the heap of this process, for which the settings of one are too small.
	debug.SetMemoryLimit(3 << 30)
	debug.SetGCPercent(400)
	// Many tests wait for other programs: at least four run at once.
	Parallel(max(4, runtime.GOMAXPROCS(0)))
	cleanup, err := Setup()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cleanup()
	code := answers.Finish(m.Run())
	testlog.PrintCPU()
	if err := testlog.Finish(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// name is the name under which the test binary is operon.
func name() string {
	if runtime.GOOS == "windows" {
		return "operon.exe"
	}
	return "operon"
}

// ActAsOperon runs operon and exits if this process was started as operon. Call it before anything else.
func ActAsOperon() {
	if filepath.Base(os.Args[0]) == name() {
		os.Exit(cli.Main())
	}
}

// program is the path of operon.
var program string

// Parallel sets how many tests run at once, unless the flag -parallel is given. Call it
// after flag.Parse.
func Parallel(n int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// Setup prepares the environment of this process: operon is first on PATH and has a cache of its own.
// cleanup removes both. CGO_ENABLED, which make sets to compile the tests, has the default of users again.
//
// The programs are in bin, thus on the disk even if temporary files are in memory: Linux maps large
// programs with fewer page faults from there than from tmpfs.
func Setup() (cleanup func(), err error) {
	if err := os.MkdirAll(repository.Path("bin"), 0o755); err != nil {
		return nil, err
	}
	programs, err := os.MkdirTemp(repository.Path("bin"), "operon-test-")
	if err != nil {
		return nil, err
	}
	cache, err := os.MkdirTemp("", "operon-cache-")
	state := filepath.Join(cache, "state")
	cleanup = func() {
		if _, err := os.Stat(filepath.Join(state, "operon")); err == nil { // a control plane, see ControlPlane
			_ = exec.Command(program, "envtest", "stop", "--all").Run()
		}
		_, _ = os.RemoveAll(programs), os.RemoveAll(cache)
	}
	program = filepath.Join(programs, name())
	err = errors.Join(
		err,
		linkSelf(program),
		linkPython(programs),
		os.Unsetenv("CGO_ENABLED"),
		os.Setenv("OPERON_CACHE", filepath.Join(cache, "cache")),
		os.Setenv("XDG_STATE_HOME", state),                         // without the control planes of the user
		os.Setenv("DOCKER_CONFIG", filepath.Join(cache, "docker")), // without the credentials of the user
		os.Setenv("PATH", programs+string(filepath.ListSeparator)+os.Getenv("PATH")),
	)
	if err != nil {
		cleanup()
		return nil, err
	}
	return cleanup, nil
}

// startControlPlane starts the control plane "default".
var startControlPlane = sync.OnceValue(func() error {
	cmd := exec.Command(program, "envtest", "start", "--detach")
	cmd.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+Assets())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// ControlPlane starts the control plane that tests of hooks and charts use, once for the package. They wait for each
// other.
func ControlPlane(t testing.TB) {
	t.Helper()
	if err := startControlPlane(); err != nil {
		t.Fatal(err)
	}
}

// linkSelf gives the test binary another name. The name is no symbolic link, because the program finds itself by
// its own name.
func linkSelf(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if os.Link(self, to) == nil {
		return nil
	}
	content, err := os.ReadFile(self) // it is on another disk
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}

// linkPython links the Python interpreter itself. With a version manager, python3 can be a
// script that takes as long to start as Python, and tests start it thousands of times.
//
// The link is a virtual environment without packages, which hooks do not need: packages of the
// machine can import modules in each start, which takes three times as long as the start itself.
func linkPython(folder string) error {
	output, err := exec.Command("python3", "-S", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return fmt.Errorf("python3: %w", err)
	}
	python := strings.TrimSpace(string(output))
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "pyvenv.cfg"),
			[]byte("home = "+filepath.Dir(python)+"\ninclude-system-site-packages = false\n"), 0o644),
		os.Symlink(python, filepath.Join(folder, "python3")),
	)
}
