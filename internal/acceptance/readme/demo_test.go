//go:build unix && testall

package readme

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestDemo runs the script of `make demo`: operon makes an operator that compiles.
func TestDemo(t *testing.T) {
	t.Parallel()
	wantParts(t, operontest.Exec(t, ".", "bash", demoScript(t, "project.sh"), t.TempDir()),
		"\n    compressionLevel:\n      maximum: 9\n      minimum: 1\n",
		"\n  - replicationFactor\n",
		`"must not exceed deployments"`,
		"# what it took",
		" s  operon create api",
		" s  go build -o bin/manager ./cmd",
		"Next: make demo-server",
	)
}

// TestDemoServer runs the script of `make demo-server`. The operator creates the objects for its
// sample, the API server calls its webhooks, and afterwards no process is left.
func TestDemoServer(t *testing.T) {
	t.Parallel()
	env, folder := demoProject(t)
	wantParts(t, operontest.ExecEnv(t, env, ".", "bash", demoScript(t, "server.sh"), folder),
		"aerospikecluster.aerospike.dzolotov.tech/aerospikecluster-sample ",
		"statefulset.apps/aerospikecluster-sample ",
		"configmap/aerospikecluster-sample ",
		"pod/aerospikecluster-sample-0 ",
		`{"interval":150}`,
		"spec.replicationFactor: Invalid value: 5: must not exceed deployments",
		"spec.compressionLevel: Invalid value: 12: ",
		"# what it took",
		" s  operon envtest start",
	)
	wantStopped(t, env)
}

// TestDemoWithoutProject expects that `make demo-server` names the command that it continues.
func TestDemoWithoutProject(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	out, err := exec.Command("bash", demoScript(t, "server.sh"), folder).CombinedOutput()
	if want := "error: " + folder + "/aerospike has no operator: run make demo first\n"; err == nil || string(out) != want {
		t.Errorf("%v: %s\nwant %s", err, out, want)
	}
}

// TestDemoInterrupted interrupts `make demo-server` while its operator runs.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	env, folder := demoProject(t)
	cmd := exec.Command("bash", demoScript(t, "server.sh"), folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a terminal does
	cmd.Env = operontest.Environ(env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	interrupted := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if interrupted || !strings.HasPrefix(lines.Text(), "$ operon envtest run ") {
			continue
		}
		// Then the script waits for kubectl. A signal that arrives while bash starts a
		// program can make bash 5.2 run forever.
		time.Sleep(80 * time.Millisecond)
		interrupted = true
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		hung := time.AfterFunc(3*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer hung.Stop()
	}
	// stdout ends when no child process has it open.
	if err := cmd.Wait(); !interrupted || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted: %v; the demo ended with %v\n%s", interrupted, err, stderr.String())
	}
	wantStopped(t, env)
}

// demoProject runs project.sh in a new folder. env is the environment for server.sh, whose control
// planes end with the test.
func demoProject(t *testing.T) (env []string, folder string) {
	t.Helper()
	folder = t.TempDir()
	operontest.Exec(t, ".", "bash", demoScript(t, "project.sh"), folder)
	env = []string{"XDG_STATE_HOME=" + t.TempDir()}
	t.Cleanup(func() { operontest.ExecEnv(t, env, ".", "operon", "envtest", "stop", "--all") })
	return env, folder
}

// demoScript returns the path of a script. Its calls of Stat make the scripts inputs of the test's
// result.
func demoScript(t *testing.T, name string) string {
	t.Helper()
	for _, file := range []string{"steps.sh", name} {
		if _, err := os.Stat(repository.Path("testdata", "demo", file)); err != nil {
			t.Fatal(err)
		}
	}
	return repository.Path("testdata", "demo", name)
}

func wantParts(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("the demo lacks %q and ends with:\n%s", part, out[max(0, len(out)-3000):])
		}
	}
}

// wantStopped checks that no control plane is left.
func wantStopped(t *testing.T, env []string) {
	t.Helper()
	if status := operontest.ExecEnv(t, env, ".", "operon", "envtest", "status"); status != "" {
		t.Errorf("still running: %s", status)
	}
}
