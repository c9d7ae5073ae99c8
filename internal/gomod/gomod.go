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
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// Go is the go command in a folder, usually the folder of a project.
type Go struct {
	Dir     string
	Environ []string // see package environ
	Network bool     // whether Require, Tidy and Complete may download modules
}

// MissingError says that the module cache lacks a module.
type MissingError struct{ Module string } // path@version

func (e *MissingError) Error() string { return "module " + e.Module + " is not in the module cache" }

var missing = lazyregexp.New(`(\S+@[^\s:]+): module lookup disabled by GOPROXY=off`)

// run runs the go command with the local toolchain and, unless g has the network, without network access. It returns
// stdout. Without the network, GOSUMDB is off: the go command verified modules when it downloaded them. If a module is
// missing, the cause of the error is a [MissingError].
func (g Go) run(ctx context.Context, args ...string) ([]byte, error) {
	env := environ.With(g.Environ, "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-mod=mod")
	if !g.Network {
		env = environ.With(env, "GOPROXY=off", "GOSUMDB=off")
	}
	out, err := environ.Command(ctx, g.Dir, env, "go", args...).Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if m := missing().FindSubmatch(exit.Stderr); m != nil {
			lacks := &MissingError{Module: string(m[1])}
			return out, &fault.Error{Code: fault.CodeFailed, Err: lacks, Hint: "run `go mod download " + lacks.Module + "`, then repeat the command"}
		}
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
