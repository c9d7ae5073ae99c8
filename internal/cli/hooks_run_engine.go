package cli

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/operator"
)

// program finds the shell-operator that --engine names: a path, or a name in PATH.
func (o *hooksRun) program(a *command.App) (string, error) {
	path := o.engine
	if strings.ContainsRune(path, filepath.Separator) {
		path = inDir(a, path)
	}
	found, err := exec.LookPath(path)
	if err != nil {
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		return "", fault.Usage("name a program, such as one that is built of github.com/flant/shell-operator/cmd/shell-operator", "--engine %s: %v", o.engine, err)
	}
	return found, nil
}

// runEngine runs the engine itself until the user ends it.
func (r *hookRunner) runEngine(ctx context.Context, home cluster.Home, program string, hooks []engine.Hook) error {
	err := operator.Program{
		Path: program, Hooks: r.dir, Cluster: r.cluster, Home: home, Env: r.env, Host: r.o.host, Port: r.o.port, Out: r.Out, Err: r.Err,
		Trouble: func(err error) { r.Notef("%s %v", command.Painter(r.Err, r.Getenv)(command.Yellow, "warning:"), err) },
	}.Run(ctx, hooks)
	if err == nil {
		r.Notef("stopped")
	}
	return err
}
