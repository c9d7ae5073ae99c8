//go:build linux && testall

package envtest

import (
	"crypto/tls"
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
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// TestEnvtestTwo runs two control planes, checks what other users can see and do, and stops
// them.
func TestEnvtestTwo(t *testing.T) {
	t.Parallel()
	p := newControlPlanes(t)
	configs := map[string]string{}
	for _, name := range []string{"one", "two"} {
		configs[name] = p.operon("envtest", "start", "--detach", "--name", name, "--controllers="+strconv.FormatBool(name == "two"))
	}
	list := p.list()
	if len(list) != 2 || list[0].Name != "one" || list[1].Name != "two" || list[0].Port == list[1].Port {
		t.Fatalf("control planes: %+v", list)
	}
	for _, s := range list {
		if s.Phase != "running" || s.Kubeconfig != configs[s.Name] {
			t.Errorf("control plane: %+v", s)
		}
		checkModes(t, filepath.Dir(s.Kubeconfig))
		checkUnauthenticated(t, s.URL)
	}
	kubectl := func(config string, args ...string) (string, error) {
		out, err := exec.Command(filepath.Join(operontest.Assets(), "kubectl"), append([]string{"--kubeconfig", config}, args...)...).CombinedOutput()
		return string(out), err
	}
	// RBAC is on: a token of a ServiceAccount has no permissions without a role.
	token, err := kubectl(configs["two"], "create", "token", "default")
	if err != nil {
		t.Fatal(token)
	}
	if code, body := get(t, list[1].URL+"/api/v1/namespaces/default/secrets", strings.TrimSpace(token)); code != http.StatusForbidden {
		t.Errorf("a request of a ServiceAccount without roles returns %d: %s", code, body)
	}
	// Each has its own objects, and only one has controllers.
	for name, want := range map[string]bool{"one": false, "two": true} {
		if out, err := kubectl(configs[name], "create", "deployment", name, "--image=none"); err != nil {
			t.Fatal(out)
		}
		if want {
			eventually(t, "the Deployment has a ReplicaSet", func() error {
				out, err := kubectl(configs[name], "get", "replicasets", "-o", "name")
				if err == nil && !strings.Contains(out, "replicaset.apps/two-") {
					err = errors.New("no ReplicaSet exists")
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
		t.Errorf("control planes after one was stopped: %+v", list)
	}
	p.operon("envtest", "stop", "--all")
	p.checkGone(list[0].Port, list[1].Port)
}

// checkModes checks that only the owner has access to the files of a control plane.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // etcd may have renamed the file
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

// checkUnauthenticated sends requests without a token and with a wrong one.
func checkUnauthenticated(t *testing.T, url string) {
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

// TestEnvtestLogTail starts an API server that ends at once: the error has its last output.
func TestEnvtestLogTail(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"etcd", "kubectl"} {
		if err := os.Symlink(filepath.Join(operontest.Assets(), name), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho first\necho 'no such flag' >&2\nexit 7\n"
	if err := os.WriteFile(filepath.Join(bin, "kube-apiserver"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newControlPlanes(t, "KUBEBUILDER_ASSETS="+bin)
	cmd := p.command("envtest", "start", "--detach")
	out, err := cmd.CombinedOutput()
	want := "error: kube-apiserver exited: exit status 7\n  first\n  no such flag\n"
	if err == nil || string(out) != want {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, out, want)
	}
	p.checkGone()
}

// TestEnvtestPortTaken requests a port that is in use.
func TestEnvtestPortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newControlPlanes(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	out, err := p.command("envtest", "start", "--port", port).CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "error: port "+port+": ") || !strings.Contains(string(out), "address already in use\nhint:  choose another --port") {
		t.Errorf("%v: %s", err, out)
	}
	p.checkGone()
}
