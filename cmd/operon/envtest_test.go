//go:build linux

package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// planes is a Home for control planes: a folder that all of them, and all
// processes of theirs, carry in their environment.
type planes struct {
	*testing.T
	state string
	env   []string
}

func newPlanes(t *testing.T, env ...string) *planes {
	t.Helper()
	p := &planes{T: t, state: t.TempDir()}
	p.env = append(os.Environ(), append([]string{"XDG_STATE_HOME=" + p.state, "KUBEBUILDER_ASSETS=" + assetsFolder()}, env...)...)
	t.Cleanup(func() { p.operon("envtest", "stop", "--all") })
	return p
}

func (p *planes) command(args ...string) *exec.Cmd {
	cmd := exec.Command("operon", args...)
	cmd.Env = p.env
	return cmd
}

// operon runs a command that is to succeed and returns its stdout.
func (p *planes) operon(args ...string) string {
	p.Helper()
	cmd := p.command(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("operon %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// foreground starts `operon envtest start` and returns it with its streams.
func (p *planes) foreground(args ...string) (cmd *exec.Cmd, stdout io.Reader, stderr *strings.Builder) {
	p.Helper()
	cmd = p.command(append([]string{"envtest", "start"}, args...)...)
	stderr = &strings.Builder{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.Fatal(err)
	}
	return cmd, stdout, stderr
}

type plane struct {
	Name       string
	Phase      string
	PID        int
	Port       int
	URL        string
	Kubeconfig string
}

func (p *planes) list() []plane {
	p.Helper()
	var frame struct{ Items []plane }
	if err := json.Unmarshal([]byte(p.operon("envtest", "status", "--output", "json")), &frame); err != nil {
		p.Fatal(err)
	}
	return frame.Items
}

// processes lists those that live with this Home in their environment, as their
// id and name.
func (p *planes) processes() map[int]string {
	p.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		p.Fatal(err)
	}
	found := map[int]string{}
	for _, path := range all {
		env, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(env), "XDG_STATE_HOME="+p.state+"\x00") {
			continue // another user's, or gone
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
		found[pid] = strings.TrimSpace(string(name))
	}
	return found
}

// nothing checks that no process, no port and no file is left.
func (p *planes) nothing(ports ...int) {
	p.Helper()
	soon(p.T, "the processes end", func() error {
		if left := p.processes(); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
	for _, port := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			p.Error(err)
			continue
		}
		l.Close()
	}
	err := filepath.WalkDir(p.state, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() || filepath.Base(path) == "default" {
			p.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		p.Error(err)
	}
}

// soon waits until f returns nil.
func soon(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited too long until %s: %v", what, err)
		}
	}
}

// TestEnvtestTwo runs two control planes side by side, looks at what others may
// see and do, and stops them.
func TestEnvtestTwo(t *testing.T) {
	t.Parallel()
	p := newPlanes(t)
	configs := map[string]string{}
	for _, name := range []string{"one", "two"} {
		configs[name] = p.operon("envtest", "start", "--detach", "--name", name, "--controllers="+strconv.FormatBool(name == "two"))
	}
	list := p.list()
	if len(list) != 2 || list[0].Name != "one" || list[1].Name != "two" || list[0].Port == list[1].Port {
		t.Fatalf("list: %+v", list)
	}
	for _, s := range list {
		if s.Phase != "running" || s.Kubeconfig != configs[s.Name] {
			t.Errorf("state: %+v", s)
		}
		checkModes(t, filepath.Dir(s.Kubeconfig))
		checkStrangers(t, s.URL)
	}
	kubectl := func(config string, args ...string) (string, error) {
		out, err := exec.Command(filepath.Join(assetsFolder(), "kubectl"), append([]string{"--kubeconfig", config}, args...)...).CombinedOutput()
		return string(out), err
	}
	// RBAC: a ServiceAccount's own token may do nothing that no role gives it.
	token, err := kubectl(configs["two"], "create", "token", "default")
	if err != nil {
		t.Fatal(token)
	}
	if code, body := get(t, list[1].URL+"/api/v1/namespaces/default/secrets", strings.TrimSpace(token)); code != http.StatusForbidden {
		t.Errorf("a fresh ServiceAccount got %d: %s", code, body)
	}
	// Their objects are apart, and only one has controllers.
	for name, want := range map[string]bool{"one": false, "two": true} {
		if out, err := kubectl(configs[name], "create", "deployment", name, "--image=none"); err != nil {
			t.Fatal(out)
		}
		if want {
			soon(t, "the Deployment has a ReplicaSet", func() error {
				out, err := kubectl(configs[name], "get", "replicasets", "-o", "name")
				if err == nil && !strings.Contains(out, "replicaset.apps/two-") {
					err = errors.New("not there")
				}
				if err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
				return nil
			})
		} else if out, err := kubectl(configs[name], "get", "deployments,replicasets", "-A", "-o", "name"); err != nil || strings.TrimSpace(out) != "deployment.apps/one" {
			t.Errorf("%v: %s", err, out)
		}
	}
	p.operon("envtest", "stop", "--name", "one")
	if list := p.list(); len(list) != 1 || list[0].Name != "two" {
		t.Errorf("list after one was stopped: %+v", list)
	}
	p.operon("envtest", "stop", "--all")
	p.nothing(list[0].Port, list[1].Port)
}

// checkModes checks that only their owner has access to a control plane's files.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // etcd renames files
		}
		info, err := d.Info()
		if err == nil && d.Type()&fs.ModeSocket == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkStrangers asks without the token.
func checkStrangers(t *testing.T, url string) {
	t.Helper()
	for token, want := range map[string]int{"": http.StatusForbidden, "guess": http.StatusUnauthorized} {
		for _, path := range []string{"/api/v1/secrets", "/apis", "/metrics"} {
			if code, body := get(t, url+path, token); code != want {
				t.Errorf("GET %s with token %q: %d, want %d: %s", path, token, code, want, body)
			}
		}
	}
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// TestEnvtestForeground ends a control plane that runs in the foreground in
// each way that there is.
func TestEnvtestForeground(t *testing.T) {
	t.Parallel()
	p := newPlanes(t)
	for _, tt := range []struct {
		name string
		end  func(cmd *exec.Cmd, s plane) error
		code int
		last string
	}{
		{"ctrl-c", func(cmd *exec.Cmd, _ plane) error { return cmd.Process.Signal(syscall.SIGINT) }, 0, "stopped"},
		{"terminate", func(cmd *exec.Cmd, _ plane) error { return cmd.Process.Signal(syscall.SIGTERM) }, 0, "stopped"},
		{"stop", func(*exec.Cmd, plane) error { p.operon("envtest", "stop"); return nil }, 0, "stopped"},
		{"kill", func(cmd *exec.Cmd, _ plane) error { return cmd.Process.Kill() }, -1, "to stop it: Ctrl-C, or operon envtest stop"},
		{"kill the keeper", func(_ *exec.Cmd, s plane) error { return syscall.Kill(s.PID, syscall.SIGKILL) }, 1,
			`error: the keeper of control plane "default" ended: signal: killed`},
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
		p.nothing(list[0].Port)
	}
}

// TestEnvtestKilledEarly ends operon, or kills the keeper, at many moments of a
// start.
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
		{"keeper", syscall.SIGKILL, false},
		{"keeper", syscall.SIGKILL, true},
	} {
		t.Run(fmt.Sprintf("%v to %s, detach %v", tt.signal, tt.victim, tt.detach), func(t *testing.T) {
			t.Parallel()
			p := newPlanes(t)
			early := 0
			for delay := time.Duration(0); delay < 2*time.Second; delay = delay*4 + 60*time.Millisecond {
				cmd, stdout, stderr := p.foreground("--detach=" + strconv.FormatBool(tt.detach))
				time.Sleep(delay)
				pid := cmd.Process.Pid
				if tt.victim == "keeper" {
					pid = p.keeperOf(pid)
				}
				if pid == 0 { // not there yet, or detached and ready
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
					p.operon("envtest", "stop") // it may have been ready
				}
				p.nothing()
			}
			if early == 0 {
				t.Error("none ended while it started")
			}
			if tt.victim == "keeper" {
				p.operon("envtest", "start", "--detach")
			}
		})
	}
}

// keeperOf returns the process that operon, as process parent, started; 0 when
// there is none.
func (p *planes) keeperOf(parent int) int {
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

// TestEnvtestRestart kills the API server: it comes back at the same place, with
// what it had.
func TestEnvtestRestart(t *testing.T) {
	t.Parallel()
	p := newPlanes(t)
	config := p.operon("envtest", "start", "--detach")
	kubectl := func(args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(assetsFolder(), "kubectl"), append([]string{"--kubeconfig", config}, args...)...)
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
		soon(t, name+" is back", func() error {
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

// TestEnvtestLastWords has an API server that does not start.
func TestEnvtestLastWords(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"etcd", "kubectl"} {
		if err := os.Symlink(filepath.Join(assetsFolder(), name), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho first\necho 'no such flag' >&2\nexit 7\n"
	if err := os.WriteFile(filepath.Join(bin, "kube-apiserver"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newPlanes(t, "KUBEBUILDER_ASSETS="+bin)
	cmd := p.command("envtest", "start", "--detach")
	out, err := cmd.CombinedOutput()
	want := "error: kube-apiserver ended: exit status 7\n  first\n  no such flag\n"
	if err == nil || string(out) != want {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, out, want)
	}
	p.nothing()
}

// TestEnvtestPortTaken asks for a port that somebody has.
func TestEnvtestPortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newPlanes(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	out, err := p.command("envtest", "start", "--port", port).CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "error: port "+port+": ") || !strings.Contains(string(out), "address already in use\nhint:  choose another --port") {
		t.Errorf("%v: %s", err, out)
	}
	p.nothing()
}
