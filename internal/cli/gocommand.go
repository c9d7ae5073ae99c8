package cli

import (
	"context"
	"errors"
	"go/version"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/process"
)

// goVersion finds the release in `go env GOVERSION`, which vendors extend
// ("go1.26-X:nodwarf5", "devel go1.27-abcdef").
var goVersion = regexp.MustCompile(`go1(\.\d+)+((beta|rc)\d+)?`)

// checkGo refuses a go command that is older than a new project's go.mod. A
// missing go command is only noted: init itself does not need one.
func (a *App) checkGo(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	cmd.Dir = a.Dir
	// A go.mod that is already here must not make the go command fetch a toolchain.
	cmd.Env = append(slices.Clone(a.Environ), "GOTOOLCHAIN=local", "GOPROXY=off")
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		a.note("note: there is no go command on the PATH; the project needs Go %s or newer", pins.Go)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		a.note("note: the version of the go command is unknown (go env GOVERSION: %s); the project needs Go %s or newer",
			firstLine(err), pins.Go)
		return nil
	}
	have := goVersion.FindString(string(out))
	if have != "" && version.Compare(have, "go"+pins.Go) < 0 {
		return fault.Failed("install Go "+pins.Go+" or newer, or add --skip-go-version-check",
			"%s is too old: the project needs Go %s", have, pins.Go)
	}
	return nil
}

// goGrace is how long tests may take to stop their API servers after Ctrl-C.
const goGrace = 20 * time.Second

// goCommand runs the go command in dir with its stdout on out. When ctx ends, so
// does all that it started, and the error is the context's cause.
func (a *App) goCommand(ctx context.Context, dir string, env []string, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = out, a.Err
	cmd.WaitDelay = goGrace
	err := process.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return fault.Failed("install Go from https://go.dev/dl", "there is no go command on the PATH")
	}
	return err
}

// firstLine is what a failed child said first on stderr, or its exit status.
func firstLine(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n"); line != "" {
			return line
		}
	}
	return err.Error()
}
