package projecttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// Check runs what the CI of a project would: it builds, vets and tests the project, and
// checks that go.mod and the formatting are final. The flags are go test's.
func Check(t testing.TB, dir string, flags ...string) {
	t.Helper()
	Build(t, dir)
	GoCommand(t, dir, "vet", "./...")
	GoCommand(t, dir, "vet", "-tags=e2e", "./test/...")
	GoCommand(t, dir, "mod", "tidy", "-diff")
	if out := operontest.Exec(t, dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("gofmt would change:\n%s", out)
	}
	Test(t, dir, append(flags, "-vet=off")...) // vetted above
}

// GoCommand runs a go command that only reads a project, and must succeed.
func GoCommand(t testing.TB, dir string, args ...string) {
	t.Helper()
	if a := askGo(t, dir, args...); a.Code != 0 {
		t.Fatalf("go %s: exit code %d\n%s%s", strings.Join(args, " "), a.Code, a.Stdout, a.Stderr)
	}
}

// WantGo is GoCommand with the recorded verdict of the go command. name tells the cases of a package apart.
func WantGo(t testing.TB, name, dir string, args ...string) {
	t.Helper()
	q := answers.Question{Peer: "go " + pins.Go, Parts: args, Files: GoFiles(t, dir)}
	code := answers.Ask(t, name, q, func() int {
		a := peertest.Go(t).Run(t, question(t, dir, args))
		if a.Code != 0 {
			t.Errorf("go %s: exit code %d\n%s%s", strings.Join(args, " "), a.Code, a.Stdout, a.Stderr)
		}
		return a.Code
	})
	if code != 0 {
		t.Errorf("go %s: exit code %d", strings.Join(args, " "), code)
	}
}

// askGo returns the answer of a go command that only reads a project: go vet or go mod tidy. It follows from the
// files that the command reads, so peertest remembers it.
func askGo(t testing.TB, dir string, args ...string) peertest.Answer {
	t.Helper()
	return peertest.Go(t).Ask(t, question(t, dir, args))
}

func question(t testing.TB, dir string, args []string) peertest.Question {
	t.Helper()
	return peertest.Question{Args: args, Env: []string{"GOPROXY=off", "GOWORK=off", "GOGC=400", "GOMEMLIMIT=off"}, Files: GoFiles(t, dir)}
}

// GoFiles returns the contents of the files in a project that the go command reads, by slash-separated path.
func GoFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, content := range treetest.Read(t, dir) {
		files[strings.TrimSuffix(name, "*")] = content
	}
	return goFiles(files, func(content string) string { return content })
}

// Build builds a project. In a StableCopy of the files that it reads, the go command finds what it has built before.
func Build(t testing.TB, dir string) {
	t.Helper()
	_, unlock, err := build(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// BuildManager is Build, and copies the binary of ./cmd to a new file.
func BuildManager(dir, to string) error { return BuildProgram(dir, "cmd", to) }

// BuildProgram is Build, and copies the binary with a name to a new file.
func BuildProgram(dir, name, to string) error {
	bin, unlock, err := build(dir)
	if err != nil {
		return err
	}
	defer unlock()
	binary, err := os.ReadFile(filepath.Join(bin, name))
	if err != nil {
		return err
	}
	return os.WriteFile(to, binary, 0o755)
}

// build builds a project in a copy. Until unlock is called, no other process does.
func build(from string) (bin string, unlock func(), err error) {
	dir, bin, err := stableCopy(from, func(files map[string]file) map[string]file {
		return goFiles(files, func(f file) string { return f.content })
	})
	if err != nil {
		return "", nil, err
	}
	if unlock, err = lock(bin); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "./...")
	cmd.Dir, cmd.Env = dir, append(operontest.Environ(), "CGO_ENABLED=0") // as Dockerfiles and operon run: one build serves all
	if out, err := cmd.CombinedOutput(); err != nil {
		unlock()
		return "", nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return bin, unlock, nil
}

// Test runs all tests of a project on a real API server and returns their output. No test
// may be skipped. If nothing has changed, the go command has the result in its cache. It
// does not see the programs of the control plane, so they are inputs of the StableCopy.
func Test(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	programs, err := servertest.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	if dir, _, err = StableCopy(dir, programs); err != nil {
		t.Fatal(err)
	}
	out, err := GoTest(t, dir, append(flags, "-v", "./...")...)
	if err != nil {
		t.Fatalf("go test: %v\n%s", err, out)
	}
	if strings.Contains(out, "--- SKIP") {
		t.Errorf("a test was skipped although the control plane is installed:\n%s", out)
	}
	return out
}

// suites limits how many projects are tested at once: linking a suite takes a GB of memory,
// and running it takes a control plane.
var suites = make(chan struct{}, 2)

// ControlPlaneEnv returns the variables that tell suites where to find the programs of a control
// plane, and wait long enough for it on a busy machine.
func ControlPlaneEnv(more ...string) []string {
	return append(more, "KUBEBUILDER_ASSETS="+operontest.Assets(), "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m")
}

// GoTest runs go test in a project, on a real API server, and returns its output.
func GoTest(t testing.TB, dir string, args ...string) (string, error) {
	t.Helper()
	suites <- struct{}{}
	defer func() { <-suites }()
	cmd := exec.Command("go", append([]string{"test"}, args...)...)
	cmd.Dir = dir
	cmd.Env = operontest.Environ(ControlPlaneEnv()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
