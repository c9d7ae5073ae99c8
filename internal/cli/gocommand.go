package cli

import (
	"bytes"
	"context"
	"errors"
	"go/version"
	"os/exec"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// goVersion finds the release in `go env GOVERSION`, which vendors extend
// ("go1.26-X:nodwarf5", "devel go1.27-abcdef").
var goVersion = regexp.MustCompile(`go1(\.\d+)+((beta|rc)\d+)?`)

// checkGo refuses a go command that is older than a new project's go.mod. A
// missing go command is only noted: init itself does not need one.
func (a *App) checkGo(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if errors.Is(err, exec.ErrNotFound) {
		a.note("note: there is no go command on the PATH; the project needs Go %s or newer", pins.Go)
		return nil
	}
	if err != nil {
		return interruptedOr(ctx, fault.In("go env GOVERSION", err))
	}
	have := goVersion.FindString(string(out))
	if have != "" && version.Compare(have, "go"+pins.Go) < 0 {
		return fault.Failed("install Go "+pins.Go+" or newer, or add --skip-go-version-check",
			"%s is too old: the project needs Go %s", have, pins.Go)
	}
	return nil
}

// goCommand runs the go command in dir with its output on stderr.
func (a *App) goCommand(ctx context.Context, dir string, args ...string) error {
	var tail bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Stdout = a.Err
	cmd.Stderr = &tail
	if err := cmd.Run(); err != nil {
		return interruptedOr(ctx, &fault.Error{Code: fault.CodeFailed, Err: err, Msg: "go " + strings.Join(args, " "),
			Hint: strings.TrimSpace(tail.String())})
	}
	return nil
}

// interruptedOr returns err, unless a signal ended the child along with us.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
