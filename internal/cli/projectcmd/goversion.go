package projectcmd

import (
	"context"
	"errors"
	"go/version"
	"os/exec"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// startGoCheck asks the go command for its version. The go command takes as long as planning a project, so the
// caller plans meanwhile. result waits, and returns an error if the go command is older than the go.mod of
// a new project. A missing go command is only noted, because init does not need it.
func startGoCheck(ctx context.Context, a *command.App) (result func() error) {
	// Prevent an existing go.mod from making the go command download a toolchain.
	cmd := environ.Command(ctx, a.Dir, environ.With(a.Environ, "GOTOOLCHAIN=local", "GOPROXY=off"), "go", "env", "GOVERSION")
	var out []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = cmd.Output()
	}()
	return func() error {
		<-done
		return checkVersion(ctx, a, string(out), err)
	}
}

// checkVersion checks the output of `go env GOVERSION`, or its error.
func checkVersion(ctx context.Context, a *command.App, out string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		a.NoteOnce("note: go is not on PATH; the project needs Go %s or newer", pins.Go)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		a.NoteOnce("note: cannot determine the version of the go command (go env GOVERSION: %s); the project needs Go %s or newer",
			command.FirstLine(err), pins.Go)
		return nil
	}
	have := releaseOf(out)
	if have != "" && version.Compare(have, "go"+pins.Go) < 0 {
		return fault.Failed("install Go "+pins.Go+" or newer, or add --skip-go-version-check",
			"%s is too old: the project needs Go %s", have, pins.Go)
	}
	return nil
}

// releaseOf returns the Go release in the output of `go env GOVERSION`, or "". The output
// can have more words and a suffix, as in "devel go1.27-abcdef" and "go1.26-X:nodwarf5".
func releaseOf(output string) string {
	for word := range strings.FieldsSeq(output) {
		if release, _, _ := strings.Cut(word, "-"); version.IsValid(release) {
			return release
		}
	}
	return ""
}
