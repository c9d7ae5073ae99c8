package testcluster

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/process"
)

// controllers are the controllers of kube-controller-manager that tests need. Others would create objects that no test mentions,
// such as the pods of a Deployment. aggregation is added if hooks may bind roles: otherwise it would change roles while
// the cleanup after a test restores them.
const controllers, aggregation = "garbage-collector-controller", ",clusterrole-aggregation-controller"

// manager is kube-controller-manager. It starts when something first waits for one of its controllers. Because it
// notices new kinds only after half a minute, it starts again after CRDs were installed.
type manager struct {
	program, kubeconfig string
	controllers         string

	mu   sync.Mutex
	end  context.CancelFunc // nil if the program does not run
	wait func() error
	log  bytes.Buffer
}

// start starts the program unless it runs.
func (m *manager) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return nil
	}
	if _, err := os.Stat(m.program); err != nil {
		return fault.Failed("operon envtest build installs it", "the test needs a controller, and %s is missing in %s", assets.ControllerManager, filepath.Dir(m.program))
	}
	m.log.Reset()
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, m.program, "--kubeconfig="+m.kubeconfig, "--controllers="+m.controllers,
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=200", "--kube-api-burst=400")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &m.log, &m.log, 50*time.Millisecond // it has nothing to save
	wait, err := process.Start(cmd)
	if err != nil {
		end()
		return fault.In("start "+assets.ControllerManager, err)
	}
	m.end, m.wait = end, wait
	return nil
}

// stop stops the program if it runs, and returns the last line of its log.
func (m *manager) stop() (last string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		return ""
	}
	m.end()
	_ = m.wait() // it was killed
	m.end = nil
	lines := strings.Split(strings.TrimSpace(m.log.String()), "\n")
	return lines[len(lines)-1]
}
