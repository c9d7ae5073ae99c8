// Package gomod works with the modules that a project requires, without network access:
// it finds the types of an API (Find), and completes go.mod and go.sum for one more
// module (Require). It asks the go command, which knows the module cache, and parses Go
// sources. It does not write to the project, and does not read PROJECT.
package gomod

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
)

// Go is the go command in a folder, usually a project's.
type Go struct {
	Dir     string
	Environ []string // see package environ
}

// run runs the go command without network access and with the local toolchain, and returns
// its stdout. GOSUMDB is off because it needs the network; the go command verified modules
// when it downloaded them.
func (g Go) run(ctx context.Context, args ...string) ([]byte, error) {
	env := environ.With(g.Environ, "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := environ.Command(ctx, g.Dir, env, "go", args...).Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return out, fault.Failed("correct what the go command reports, then repeat the command", "go %s: %s", strings.Join(subcommand(args), " "), line)
	case errors.Is(err, exec.ErrNotFound):
		return out, fault.Failed("install Go (https://go.dev/dl/) and add its bin folder to PATH; operon resolves modules with it",
			"the go command is not in PATH")
	}
	return out, err
}

// subcommand returns the part of args that is useful in an error message. The flags that
// follow, with temporary files and all modules of go.mod, would hide the cause.
func subcommand(args []string) []string {
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		return args[:i]
	}
	return args
}
