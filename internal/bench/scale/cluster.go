//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/testkit/loadtest"
)

// start starts a control plane that serves the kind of the project.
func (b *bench) start(ctx context.Context) (c *loadtest.Cluster, kubeconfig string, stop func(), err error) {
	envtest := func(args ...string) *exec.Cmd {
		cmd := exec.Command("operon", append([]string{"envtest"}, append(args, "--name", fmt.Sprint("scale-", os.Getpid()))...)...)
		cmd.Stderr = os.Stderr
		return cmd
	}
	out, err := envtest("start", "--detach").Output()
	if err != nil {
		return nil, "", nil, err
	}
	stop = func() { _ = envtest("stop").Run() }
	kubeconfig = strings.TrimSpace(string(out))
	c, err = loadtest.Connect(kubeconfig, "default")
	if err == nil {
		err = c.Install(ctx, filepath.Join(b.project, filepath.FromSlash(loadtest.CRD)))
	}
	if err != nil {
		stop()
		return nil, "", nil, err
	}
	return c, kubeconfig, stop, nil
}
