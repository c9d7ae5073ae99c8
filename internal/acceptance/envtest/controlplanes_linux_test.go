//go:build linux && testall

package envtest

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// controlPlanes are the control planes of a test. They share a state folder. The environment
// of each process names it.
type controlPlanes struct {
	*testing.T
	state string
	env   []string
}

func newControlPlanes(t *testing.T, env ...string) *controlPlanes {
	t.Helper()
	p := &controlPlanes{T: t, state: t.TempDir()}
	p.env = append(os.Environ(), append([]string{"XDG_STATE_HOME=" + p.state, "KUBEBUILDER_ASSETS=" + operontest.Assets()}, env...)...)
	t.Cleanup(func() { p.operon("envtest", "stop", "--all") })
	return p
}

func (p *controlPlanes) command(args ...string) *exec.Cmd {
	cmd := exec.Command("operon", args...)
	cmd.Env = p.env
	return cmd
}

// operon runs a command that must succeed and returns its stdout.
func (p *controlPlanes) operon(args ...string) string {
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
func (p *controlPlanes) foreground(args ...string) (cmd *exec.Cmd, stdout io.Reader, stderr *strings.Builder) {
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

type controlPlane struct {
	Name       string
	Phase      string
	PID        int
	Port       int
	URL        string
	Kubeconfig string
}

func (p *controlPlanes) list() []controlPlane {
	p.Helper()
	var frame struct{ Items []controlPlane }
	if err := json.Unmarshal([]byte(p.operon("envtest", "status", "--output", "json")), &frame); err != nil {
		p.Fatal(err)
	}
	return frame.Items
}

// processes returns the names of the processes whose environment names the state folder,
// by id.
func (p *controlPlanes) processes() map[int]string {
	p.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		p.Fatal(err)
	}
	found := map[int]string{}
	for _, path := range all {
		env, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(env), "XDG_STATE_HOME="+p.state+"\x00") {
			continue // of another user, or ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
		found[pid] = strings.TrimSpace(string(name))
	}
	return found
}

// checkGone checks that no process, no port and no file is left.
func (p *controlPlanes) checkGone(ports ...int) {
	p.Helper()
	eventually(p.T, "the processes end", func() error {
		if left := p.processes(); len(left) > 0 {
			return fmt.Errorf("still running: %v", left)
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

// eventually waits until f returns nil.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within two minutes: %v", what, err)
		}
	}
}
