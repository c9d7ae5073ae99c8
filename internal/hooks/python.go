package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/process"
)

// exitNotFound is the exit code of env for a program that is not in PATH.
const exitNotFound = 127

// pythonRunner returns a function that runs the python3 in the PATH of the sandbox, without
// the user's modules and settings.
func (s *Sandbox) pythonRunner(ctx context.Context) rbac.PythonRunner {
	return func(program string, input []byte) ([]byte, error) {
		limited, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		cmd := exec.CommandContext(limited, "/usr/bin/env", "python3", "-I", "-S", "-c", program)
		cmd.Env = []string{"PATH=" + s.path, "LANG=C.UTF-8"}
		cmd.Stdin = bytes.NewReader(input)
		cmd.WaitDelay = time.Second
		var stdout, stderr process.Output
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := process.Run(cmd)
		exit, exited := errors.AsType[*exec.ExitError](err)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case stdout.Err() != nil || stderr.Err() != nil:
			return nil, fmt.Errorf("python3 %w", process.ErrTooMuchOutput)
		case limited.Err() != nil:
			return nil, fmt.Errorf("python3 did not end within %v", s.timeout)
		case exited && exit.ExitCode() == exitNotFound:
			return nil, rbac.ErrNoPython
		case err != nil:
			return nil, fmt.Errorf("python3: %w: %s", err, strings.TrimSpace(string(stderr.Bytes())))
		}
		return stdout.Bytes(), nil
	}
}
