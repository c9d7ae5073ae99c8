//go:build linux && testall

package envtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// TestEnvtestForeground ends a control plane in the foreground in every possible way.
func TestEnvtestForeground(t *testing.T) {
	t.Parallel()
	p := newControlPlanes(t)
	for _, tt := range []struct {
		name string
		end  func(cmd *exec.Cmd, s controlPlane) error
		code int
		last string
	}{
		{"ctrl-c", func(cmd *exec.Cmd, _ controlPlane) error { return cmd.Process.Signal(syscall.SIGINT) }, 0, "stopped"},
		{"terminate", func(cmd *exec.Cmd, _ controlPlane) error { return cmd.Process.Signal(syscall.SIGTERM) }, 0, "stopped"},
		{"stop", func(*exec.Cmd, controlPlane) error { p.operon("envtest", "stop"); return nil }, 0, "stopped"},
		{"kill", func(cmd *exec.Cmd, _ controlPlane) error { return cmd.Process.Kill() }, -1, "to stop it: Ctrl-C, or operon envtest stop"},
		{"kill the supervisor", func(_ *exec.Cmd, s controlPlane) error { return syscall.Kill(s.PID, syscall.SIGKILL) }, 1,
			"error: the supervisor of control plane \"default\" ended: signal: killed\nhint:  start the control plane again"},
	} {
		cmd, stdout, stderr := p.foreground()
		line := make([]byte, 4096)
		n, err := stdout.Read(line)
		list := p.list()
		if err != nil || len(list) != 1 || string(line[:n]) != list[0].Kubeconfig+"\n" {
			t.Fatalf("%s: printed %q, %v; list %+v\n%s", tt.name, line[:n], err, list, stderr)
		}
		if err := tt.end(cmd, list[0]); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != tt.code {
			t.Errorf("%s: exit code %d\n%s", tt.name, code, stderr)
		}
		if got := strings.TrimSpace(stderr.String()); !strings.HasSuffix(got, tt.last) {
			t.Errorf("%s: stderr:\n%s", tt.name, got)
		}
		p.checkGone(list[0].Port)
	}
}

// TestEnvtestKilledEarly ends operon, or kills the supervisor, at many moments of a start.
func TestEnvtestKilledEarly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		victim string
		signal syscall.Signal
		detach bool
	}{
		{"operon", syscall.SIGKILL, false},
		{"operon", syscall.SIGKILL, true},
		{"operon", syscall.SIGINT, false},
		{"operon", syscall.SIGTERM, true},
		{"supervisor", syscall.SIGKILL, false},
		{"supervisor", syscall.SIGKILL, true},
	} {
		t.Run(fmt.Sprintf("%v to %s, detach %v", tt.signal, tt.victim, tt.detach), func(t *testing.T) {
			t.Parallel()
			p := newControlPlanes(t)
			early := 0
			for delay := time.Duration(0); delay < 2*time.Second; delay = delay*4 + 60*time.Millisecond {
				cmd, stdout, stderr := p.foreground("--detach=" + strconv.FormatBool(tt.detach))
				time.Sleep(delay)
				pid := cmd.Process.Pid
				if tt.victim == "supervisor" {
					pid = p.supervisorOf(pid)
				}
				if pid == 0 { // not started yet, or detached and ready
					_ = cmd.Process.Kill()
				} else {
					_ = syscall.Kill(pid, tt.signal)
				}
				printed, _ := io.ReadAll(stdout)
				err := cmd.Wait()
				if len(printed) == 0 {
					early++
					if err == nil {
						t.Errorf("success without a kubeconfig after %v:\n%s", delay, stderr)
					}
				}
				if tt.detach {
					p.operon("envtest", "stop") // it may be running
				}
				p.checkGone()
			}
			if early == 0 {
				t.Error("no start was interrupted")
			}
			if tt.victim == "supervisor" {
				p.operon("envtest", "start", "--detach")
			}
		})
	}
}

// supervisorOf returns the id of the process that the process parent started, or 0.
func (p *controlPlanes) supervisorOf(parent int) int {
	p.Helper()
	for pid := range p.processes() {
		if parentOf(pid) == parent {
			return pid
		}
	}
	return 0
}

func parentOf(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if parent, ok := strings.CutPrefix(line, "PPid:\t"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(parent))
			return n
		}
	}
	return 0
}

// TestEnvtestRestart kills the API server and etcd. Each is started again at the same
// address, with the same objects.
func TestEnvtestRestart(t *testing.T) {
	t.Parallel()
	p := newControlPlanes(t)
	config := p.operon("envtest", "start", "--detach")
	kubectl := func(args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(operontest.Assets(), "kubectl"), append([]string{"--kubeconfig", config}, args...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := kubectl("create", "configmap", "kept", "--from-literal=a=b"); err != nil {
		t.Fatal(out)
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		for pid, process := range p.processes() {
			if process == name {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
		}
		eventually(t, name+" is back", func() error {
			out, err := kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}")
			if err == nil && out != "b" {
				err = errors.New("another value")
			}
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
}
