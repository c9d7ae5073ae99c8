package external

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
)

// Program is the program of a plugin, and how it runs: in the folder of the project, for a limited time,
// with at most 64 MiB of output, and only if the user agreed.
type Program struct {
	Found
	Dir    string // the working folder
	Env    []string
	Stderr io.Writer // gets what the program prints on stderr
	Limit  time.Duration
	// Allow returns an error unless the user lets this program with this checksum run.
	Allow func(ctx context.Context, path, checksum string) error
}

// run starts the program with an input, and returns what it printed on stdout.
func (p Program) run(ctx context.Context, stdin []byte) ([]byte, error) {
	if err := p.allow(ctx); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	var out process.Output
	cmd := p.command(limited)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(stdin), &out
	err := process.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.Err() != nil:
		return nil, p.tooMuch(out.Err())
	case limited.Err() != nil:
		return nil, p.timeout()
	case errors.Is(err, exec.ErrWaitDelay) && json.Valid(out.Bytes()):
		return out.Bytes(), nil // the response arrived, whatever a child of the program does
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, p.explain(err)
	}
	return out.Bytes(), p.explain(err)
}

// allow returns an error unless the user lets the program run. A relative path could name another file in the
// folder where the program starts than in this process'.
func (p Program) allow(ctx context.Context) error {
	if !filepath.IsAbs(p.Path) {
		return fault.Failed("use an absolute path in EXTERNAL_PLUGINS_PATH", "the path of the plugin %s is relative: %s", p.Key(), p.Path)
	}
	content, err := input.ReadFile(p.Path, input.Catalog)
	if err != nil {
		return fault.Failed("make it readable", "the plugin %s: %v", p.Key(), err)
	}
	sum := sha256.Sum256(content)
	return p.Allow(ctx, p.Path, hex.EncodeToString(sum[:]))
}

func (p Program) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.Dir, cmd.Env, cmd.Stderr = p.Dir, p.Env, p.Stderr
	cmd.WaitDelay = time.Second
	return cmd
}

func (p Program) timeout() error {
	return fault.Failed("set OPERON_PLUGIN_TIMEOUT to a longer time, such as 5m", "the plugin %s did not respond within %v", p.Key(), p.Limit)
}

func (p Program) tooMuch(err error) error {
	return fault.Failed("it must print only its response, of at most 64 MiB", "the plugin %s %v", p.Key(), err)
}

// explain returns the error of a program that failed, or did not start.
func (p Program) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return fault.Failed("the plugin must wait for the programs that it starts, or redirect their output", "a child of the plugin %s keeps its output open", p.Key())
	}
	if exit, ran := errors.AsType[*exec.ExitError](err); ran {
		return fault.Failed("its messages, if any, are above", "the plugin %s failed: %s", p.Key(), exit.ProcessState)
	}
	return fault.Failed("it must be a program for this system, or a script whose first line names its interpreter",
		"the plugin %s does not start: %s: %v", p.Key(), p.Path, fault.Reason(err))
}
