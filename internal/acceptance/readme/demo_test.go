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

// TestDemo runs the script of `make demo`. The operator creates the objects for its sample,
// and afterwards no process is left.
func TestDemo(t *testing.T) {
	t.Parallel()
	env := []string{"XDG_STATE_HOME=" + t.TempDir()}
	t.Cleanup(func() { operontest.ExecEnv(t, env, ".", "operon", "envtest", "stop", "--all") })
	out := operontest.ExecEnv(t, env, ".", "bash", demoScript(t), t.TempDir())
	for _, part := range []string{
		"aerospikecluster.aerospike.dzolotov.tech/aerospikecluster-sample ",
		"statefulset.apps/aerospikecluster-sample ",
		"configmap/aerospikecluster-sample ",
		"pod/aerospikecluster-sample-0 ",
		"# what it took",
		"ms  go build -o bin/manager ./cmd",
		"ms  operon envtest start",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("the demo lacks %q and ends with:\n%s", part, out[max(0, len(out)-3000):])
		}
	}
	if status := operontest.ExecEnv(t, env, ".", "operon", "envtest", "status"); status != "" {
		t.Errorf("still running: %s", status)
	}
}

// TestDemoInterrupted interrupts the demo while its operator runs.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	env := []string{"XDG_STATE_HOME=" + t.TempDir()}
	t.Cleanup(func() { operontest.ExecEnv(t, env, ".", "operon", "envtest", "stop", "--all") })
	cmd := exec.Command("bash", demoScript(t), t.TempDir())
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
		if interrupted || !strings.Contains(lines.Text(), "bin/manager &") {
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
	if status := operontest.ExecEnv(t, env, ".", "operon", "envtest", "status"); status != "" {
		t.Errorf("still running: %s", status)
	}
}

// demoScript returns the path of the script. Its call of Stat makes the
// script an input of the test's result.
func demoScript(t *testing.T) string {
	t.Helper()
	name := repository.Path("testdata", "demo.sh")
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	return name
}
