// Package gomod works with the modules that a project requires, without network:
// it finds out where the types of an API live (Find), and makes go.mod and go.sum
// complete for one more module (Require). It asks the go command, which knows
// the module cache, and reads Go sources as text. It neither edits the project
// nor knows PROJECT.
package gomod

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// goCommand runs the go command in dir, without network and without another
// toolchain, and returns its stdout. GOSUMDB is off because asking it takes the
// network too: what is in the module cache was verified on its way there.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return out, fault.Failed("", "go %s: %s", strings.Join(subcommand(args), " "), line)
	case errors.Is(err, exec.ErrNotFound):
		return out, fault.Failed("install Go (https://go.dev/dl/) and put its bin folder on PATH; operon asks it for modules",
			"there is no go command on PATH")
	}
	return out, err
}

// subcommand is the part of args that a person would call the command: the flags
// that follow, with names of temporary files, and all modules of go.mod, would
// hide what went wrong.
func subcommand(args []string) []string {
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		return args[:i]
	}
	return args
}
