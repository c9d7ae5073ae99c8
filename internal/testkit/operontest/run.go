package operontest

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// NoGC is a variable that turns off the garbage collector of an operon that is a process. A run needs
// 100 MB more memory and a quarter less time.
const NoGC = "GOGC=off"

// Do runs a command line of operon in this process and returns its exit code. Stdin is empty.
func Do(dir string, env []string, stdout, stderr io.Writer, args ...string) int {
	dir, err := filepath.Abs(dir)
	if err != nil {
		panic(err) // the folder of the tests is gone
	}
	a := &command.App{
		In: strings.NewReader(""), Out: &stream{to: stdout}, Err: &stream{to: stderr},
		Dir: dir, Environ: env, Program: program, Now: time.Now,
	}
	return cli.Run(context.Background(), a, args)
}

// stream is a writer for several goroutines, as a file is.
type stream struct {
	mu sync.Mutex
	to io.Writer
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(b)
}

// Run runs operon in a folder and returns its stdout. The test ends when it fails.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return Exec(t, dir, "operon", args...)
}

// Exec runs a program in a folder, without network, and returns its stdout. The test
// ends when it fails. operon runs in this process.
func Exec(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	return ExecEnv(t, nil, dir, name, args...)
}

// ExecEnv is Exec with more variables in the environment.
func ExecEnv(t testing.TB, env []string, dir, name string, args ...string) string {
	t.Helper()
	if name == "operon" {
		var stdout, stderr strings.Builder
		if code := Do(dir, Environ(env...), &stdout, &stderr, args...); code != 0 {
			t.Fatalf("operon %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout.String(), stderr.String())
		}
		return stdout.String()
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = Environ(env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// Environ is the environment of the programs that tests run: without network, outside
// any workspace, and with a fixed date. It lacks PWD, the folder of this process, because go test keeps results
// of tests that ask for their folder by the value of PWD: with it, each clone would run the suites of projects again.
func Environ(more ...string) []string {
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "PWD=") })
	return append(append(own, "SOURCE_DATE_EPOCH=1767225600", "GOPROXY=off", "GOWORK=off", "GOGC=400"), more...)
}

// InitArgs are the arguments of the command that InitProject runs.
var InitArgs = []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}

// InitProject scaffolds the project fleet in a new folder and returns the folder.
func InitProject(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	Run(t, dir, InitArgs...)
	return dir
}

// Commands returns the command lines of a file as words. Lines that start with # are
// comments.
func Commands(file string) ([][]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var commands [][]string
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words, err := shellquote.Split(line)
		if err != nil {
			return nil, err
		}
		commands = append(commands, words)
	}
	return commands, nil
}

// GoEnv returns a setting of the go command.
func GoEnv(name string) string { return goEnv()[name] }

var goEnv = sync.OnceValue(func() (settings map[string]string) {
	out, err := exec.Command("go", "env", "-json").Output()
	if err == nil {
		err = json.Unmarshal(out, &settings)
	}
	if err != nil {
		panic(err) // the go command runs the tests
	}
	return settings
})

// Assets returns the folder with the programs of a control plane. It is empty if they are not
// installed; tests that need them then fail. `make assets` builds them.
func Assets() string {
	dir, _ := servertest.Assets()
	return dir
}

// HomeWithAssets creates a home folder in which the installed programs of a control plane
// are in the per-user store, and nothing else is.
func HomeWithAssets(t testing.TB) string {
	t.Helper()
	home := t.TempDir()
	programs, err := servertest.Assets()
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(home, ".local", "share", "kubebuilder-envtest", "k8s")
	if err := os.MkdirAll(store, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(programs, filepath.Join(store, pins.Kubernetes+"-"+runtime.GOOS+"-"+runtime.GOARCH)); err != nil {
		t.Fatal(err)
	}
	return home
}
