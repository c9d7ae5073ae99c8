package assets

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/process"
)

// verifyTimeout limits how long a program takes to print its version. That needs
// milliseconds, but macOS and virus scanners first read the whole of a new program.
const verifyTimeout = time.Minute

// check has the arguments that make a program print its version, and the line that it
// must print.
type check struct {
	program string
	args    []string
	line    string
}

// checks returns one check for each program. kubectl has no --version flag.
func checks() ([]check, error) {
	etcd, err := etcdVersion()
	if err != nil {
		return nil, err
	}
	return []check{
		{"etcd", []string{"--version"}, "etcd Version: " + etcd},
		{"kube-apiserver", []string{"--version"}, "Kubernetes v" + pins.Kubernetes},
		{ControllerManager, []string{"--version"}, "Kubernetes v" + pins.Kubernetes},
		{"kubectl", []string{"version", "--client"}, "Client Version: v" + pins.Kubernetes},
	}, nil
}

// verify runs each of the named programs once, so that a program that does not run on
// this system, or has another version, never reaches the store.
func verify(ctx context.Context, env []string, home, bin string, names []string) error {
	all, err := checks()
	if err != nil {
		return err
	}
	// The user's settings for kubectl must not have an effect.
	env = environ.With(env, "HOME="+home, "USERPROFILE="+home, "KUBECONFIG="+os.DevNull)
	for _, c := range all {
		if !slices.Contains(names, c.program) {
			continue
		}
		if err := c.run(ctx, env, bin); err != nil {
			return err
		}
	}
	return nil
}

func (c check) run(parent context.Context, env []string, bin string) error {
	ctx, cancel := context.WithTimeoutCause(parent, verifyTimeout,
		fmt.Errorf("no answer within %s", verifyTimeout))
	defer cancel()
	var out, errs strings.Builder
	cmd := exec.CommandContext(ctx, Program(bin, c.program), c.args...)
	cmd.Env, cmd.Dir = env, bin
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := process.Run(cmd)
	what := strings.Join(append([]string{c.program}, c.args...), " ")
	switch {
	case ctx.Err() != nil:
		return fault.In(what, context.Cause(ctx))
	case err != nil:
		return fault.Failed("operon envtest build", "%s: %v: %s", what, err, strings.TrimSpace(errs.String()))
	}
	for line := range strings.Lines(out.String()) {
		if strings.TrimSpace(line) == c.line {
			return nil
		}
	}
	return fault.Failed("operon envtest build", "%s: printed %q, not %q", what, strings.TrimSpace(out.String()), c.line)
}
