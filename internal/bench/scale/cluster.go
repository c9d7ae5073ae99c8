//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/loadtest"
)

// start starts a control plane that serves the kind of the project.
func (b *bench) start(ctx context.Context, flags ...string) (c *loadtest.Cluster, kubeconfig string, stop func(), err error) {
	running, cancel := context.WithCancel(context.Background())
	args := append([]string{"envtest", "start", "--name", fmt.Sprint("scale-", os.Getpid())}, flags...)
	cmd := exec.CommandContext(running, "operon", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, "", nil, err
	}
	wait, err := process.Start(cmd)
	if err != nil {
		cancel()
		return nil, "", nil, err
	}
	stop = sync.OnceFunc(func() {
		cancel()
		_ = wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		kubeconfig = strings.TrimSpace(line)
		c, err = loadtest.Connect(kubeconfig, "default")
	}
	if err == nil && b.project != "" {
		err = c.Install(ctx, filepath.Join(b.project, filepath.FromSlash(loadtest.CRD)))
	}
	if err != nil {
		stop()
		return nil, "", nil, err
	}
	return c, kubeconfig, stop, nil
}
