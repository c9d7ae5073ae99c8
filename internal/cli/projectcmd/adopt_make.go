package projectcmd

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/projectcopy"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// makeCommand prints the commands of a Makefile that generate. Without OPERON, the Makefile of operon calls
// controller-gen.
const makeCommand = "make -n generate manifests OPERON="

// askMake asks make which controller-gen calls the Makefile has.
func (o *adoptProject) askMake(a *command.App, root string) error {
	ctx := o.cmd.Context()
	if err := o.allowMake(ctx, a); err != nil {
		return err
	}
	shown, done := a.ShowProgress(ctx)
	printed, err := runMake(shown, root, a.Environ)
	done()
	if err != nil {
		return err
	}
	if o.printed = calls.Printed(printed); len(o.printed) == 0 {
		return fault.Usage("write the arguments of the generators to PROJECT, as docs/generate.md describes", "%s prints no controller-gen call", makeCommand)
	}
	o.made, err = request.Settings(o.printed)
	return err
}

// allowMake returns an error unless the user lets make run. The answer counts once, because it is about the whole
// repository.
func (o *adoptProject) allowMake(ctx context.Context, a *command.App) error {
	const runs = "make runs the $(shell ...) parts of the Makefile when it reads it, also with -n"
	switch {
	case o.yes:
		return nil
	case a.Prompt == nil:
		return fault.Usage("look at the Makefile, then repeat the command with --yes", "%s, and you have not allowed it", runs)
	}
	a.Notef("%s runs in a copy of the project. %s.", makeCommand, runs)
	yes, err := a.Prompt.Confirm(ctx, "Run it?", false)
	if err == nil && !yes {
		err = fault.Usage("without --make-dry-run, operon adopt runs nothing", "make did not run, and PROJECT does not change")
	}
	return err
}

// runMake returns what make prints in a copy of the project, with the root of the project for the folder of the copy.
func runMake(ctx context.Context, root string, env []string) (printed string, err error) {
	plan, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), root), scaffold.Options{})
	if err != nil {
		return "", err
	}
	files, err := overlay.New(root, plan)
	if err != nil {
		return "", err
	}
	defer files.Close()
	project, err := projectcopy.New(ctx, files)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(project.Dir)
	if err != nil {
		return "", err
	}
	progress.From(ctx)("running "+makeCommand, 0, 0)
	var out process.Output
	var stderr bytes.Buffer
	words := strings.Fields(makeCommand)
	cmd := environ.Command(ctx, dir, environ.With(env, "PWD="+dir, "MAKEFLAGS=", "MAKELEVEL="), words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = process.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return "", fault.Failed("install make, or write the arguments of the generators to PROJECT", "make is not on PATH")
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()+"\n"+err.Error()), "\n")
		return "", fault.Failed("correct the Makefile, or write the arguments of the generators to PROJECT, as docs/generate.md describes", "%s: %s", makeCommand, first)
	}
	return strings.ReplaceAll(string(out.Bytes()), dir, calls.Root), out.Err()
}
