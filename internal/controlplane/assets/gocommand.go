package assets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/process"
)

// goCommand is the user's go command, with an environment that builds the embedded
// module independently of the user's project and settings.
type goCommand struct {
	path string
	dir  string  // the folder with the embedded module
	env  environ // the complete environment of the command
}

// keptFlags are the GOFLAGS that cannot change what is built. The others are
// dropped: -mod=vendor or -modfile make the build fail, -race or -tags build other
// programs, and -json changes the output. A quoted value may be split in the wrong
// place. That is harmless, because all of these flags are.
var keptFlags = map[string]bool{"p": true, "modcacherw": true, "trimpath": true, "buildvcs": true}

// newGoCommand finds the go command and prepares its environment. The user's settings
// for the source of modules (GOPROXY and related variables), the toolchain
// (GOTOOLCHAIN) and cgo stay: the command needs the network, and another cgo setting
// would compile everything again.
func newGoCommand(ctx context.Context, env environ, dir, tmp string) (*goCommand, error) {
	path := env.lookGo()
	if path == "" {
		return nil, fault.Failed("install Go from https://go.dev/dl, or point "+Var+" at a folder with "+list(programs),
			"building the control plane needs the go command, which is not in PATH")
	}
	// The linker and the C compiler keep their files in TMPDIR (TMP on Windows).
	g := &goCommand{path: path, dir: dir, env: env.with("PWD="+dir, "GOWORK=off", "GO111MODULE=on",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "TMPDIR="+tmp, "TMP="+tmp)}
	settings, err := g.settings(ctx)
	if err != nil {
		return nil, err
	}
	g.env = g.env.with("GOFLAGS=" + safeFlags(settings.GOFLAGS))
	if settings.GOTMPDIR == "" {
		// On the disk of the store, go renames the linked program instead of
		// copying it, a small /tmp is no limit, and removeLeftovers finds the
		// files of a killed go command.
		g.env = g.env.with("GOTMPDIR=" + tmp)
	}
	return g, nil
}

// settings returns the values that the user may have set in the environment or in
// go's configuration file.
func (g *goCommand) settings(ctx context.Context) (s struct{ GOFLAGS, GOTMPDIR string }, err error) {
	var out bytes.Buffer
	if err := g.run(ctx, &out, &goOutput{}, "env", "-json", "GOFLAGS", "GOTMPDIR"); err != nil {
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

// run runs the go command and waits for it. output receives its stderr and explains a
// failure.
func (g *goCommand) run(ctx context.Context, stdout io.Writer, output *goOutput, args ...string) error {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	cmd.Stdout, cmd.Stderr = stdout, output
	err := process.Run(cmd)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("go %s: %w", args[0], context.Cause(ctx))
	}
	return output.explain("go "+args[0], err)
}
