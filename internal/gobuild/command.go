package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/process"
)

// command is the user's go command, with an environment that builds the module independently of the
// user's project and settings.
type command struct {
	Build
	path string
	dir  string   // the folder with the module
	env  []string // the complete environment of the command
}

// keptFlags are the GOFLAGS that cannot change what is built. The others are
// dropped: -mod=vendor or -modfile make the build fail, -race or -tags build other
// programs, and -json changes the output. A quoted value may be split in the wrong
// place. That is harmless, because all of these flags are.
var keptFlags = map[string]bool{"p": true, "modcacherw": true, "trimpath": true, "buildvcs": true}

// newCommand finds the go command and prepares its environment. The user's settings for the source of
// modules (GOPROXY and related variables), the toolchain (GOTOOLCHAIN) and cgo stay: the command needs
// the network, and another cgo setting would compile everything again.
func (b Build) newCommand(ctx context.Context, dir, tmp string) (*command, error) {
	path, err := environ.LookPath(b.Env, "go")
	if err != nil {
		return nil, fault.Failed("install Go from https://go.dev/dl, or "+b.Instead, "building %s needs the go command, which is not in PATH", b.Title)
	}
	// The linker and the C compiler keep their files in TMPDIR (TMP on Windows).
	g := &command{Build: b, path: path, dir: dir, env: environ.With(b.Env, "PWD="+dir, "GOWORK=off", "GO111MODULE=on",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "TMPDIR="+tmp, "TMP="+tmp)}
	settings, err := g.settings(ctx)
	if err != nil {
		return nil, err
	}
	g.env = environ.With(g.env, "GOFLAGS="+safeFlags(settings.GOFLAGS))
	if settings.GOTMPDIR == "" {
		// On the disk of the programs, go renames the linked program instead of copying it, a small
		// /tmp is no limit, and whoever removes the work folder finds the files of a killed go command.
		g.env = environ.With(g.env, "GOTMPDIR="+tmp)
	}
	return g, nil
}

// settings returns the values that the user may have set in the environment or in
// go's configuration file.
func (g *command) settings(ctx context.Context) (s struct{ GOFLAGS, GOTMPDIR string }, err error) {
	var out bytes.Buffer
	if err := g.run(ctx, &out, g.newOutput(), "env", "-json", "GOFLAGS", "GOTMPDIR"); err != nil {
		return s, err
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return s, fault.Failed("make sure that "+g.path+" is the go command", "%s env -json: %v", g.path, err)
	}
	return s, nil
}

// safeFlags returns the GOFLAGS in keptFlags. The result is never empty: with an empty
// GOFLAGS, go would use the value in its configuration file.
func safeFlags(goflags string) string {
	kept := []string{"-mod=readonly"}
	for flag := range strings.FieldsSeq(goflags) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if keptFlags[name] {
			kept = append(kept, flag)
		}
	}
	return strings.Join(kept, " ")
}

// run runs the go command and waits for it. out receives its stderr and explains a
// failure.
func (g *command) run(ctx context.Context, stdout io.Writer, out *output, args ...string) error {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	cmd.Stdout, cmd.Stderr = stdout, out
	err := process.Run(cmd)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("go %s: %w", args[0], context.Cause(ctx))
	}
	return out.explain("go "+args[0], err)
}
