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

// goCommand is the user's go command, set up to build the embedded module
// whatever the user's own project or settings are.
type goCommand struct {
	path string
	dir  string  // the folder with the embedded module
	env  environ // complete
}

// keptFlags are the GOFLAGS that cannot change what is built. All others are
// dropped: -mod=vendor or -modfile would make the build fail, -race or -tags
// would build something else, -json would garble the output. (A value that is
// quoted in GOFLAGS may be split wrongly here; that is harmless, since each of
// these is.)
var keptFlags = map[string]bool{"p": true, "modcacherw": true, "trimpath": true, "buildvcs": true}

// newGoCommand finds go and fixes its environment. Where modules come from
// (GOPROXY and its relatives), which toolchain is taken (GOTOOLCHAIN) and cgo
// stay as the user has them: fetching is this command's purpose, and another
// cgo setting would compile everything anew.
func newGoCommand(ctx context.Context, env environ, dir, tmp string) (*goCommand, error) {
	path := env.lookGo()
	if path == "" {
		return nil, fault.Failed("install Go from https://go.dev/dl, or point "+Var+" at a folder with "+list(programs),
			"building the control plane needs the go command, and it is not on the PATH")
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
		// On the store's disk the link result is renamed and not copied, a
		// small /tmp does not matter, and what a killed go leaves is found
		// again.
		g.env = g.env.with("GOTMPDIR=" + tmp)
	}
	return g, nil
}

// settings are the values that may stand in go's own configuration file as well
// as in the environment.
func (g *goCommand) settings(ctx context.Context) (s struct{ GOFLAGS, GOTMPDIR string }, err error) {
	var out bytes.Buffer
	if err := g.run(ctx, &out, &goOutput{}, "env", "-json", "GOFLAGS", "GOTMPDIR"); err != nil {
		return s, err
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return s, fault.Failed("is "+g.path+" the go command?", "%s env -json: %v", g.path, err)
	}
	return s, nil
}

// safeFlags keeps what is harmless. It is never empty, for an empty GOFLAGS
// would let go's configuration file speak.
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

// run runs go to its end. output receives what it says on stderr and explains
// a failure.
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
