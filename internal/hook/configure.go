package hook

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/process"
)

// shellLib stands for the library in the engine's image, and prelude puts it in
// its place.
var (
	//go:embed shell_lib.sh
	shellLib []byte
	//go:embed prelude.sh
	prelude []byte
)

// Sandbox runs hooks for their configuration. A hook sees nothing of the user:
// an empty home, no kubeconfig, no input, and of the environment what programs
// need to be found.
type Sandbox struct {
	dir     string // the folder of hooks
	home    string
	path    string
	timeout time.Duration
}

// NewSandbox makes a sandbox for the hooks in dir, to be closed. path is where
// programs are looked for, as in PATH.
func NewSandbox(dir, path string, timeout time.Duration) (*Sandbox, error) {
	home, err := os.MkdirTemp("", "operon-hooks-")
	if err != nil {
		return nil, err
	}
	s := &Sandbox{dir: dir, home: home, path: path, timeout: timeout}
	for name, content := range map[string][]byte{"shell_lib.sh": shellLib, "prelude.sh": prelude} {
		if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Close removes what the hooks left behind.
func (s *Sandbox) Close() { _ = os.RemoveAll(s.home) }

func (s *Sandbox) env() []string {
	return []string{
		"PATH=" + s.path, "HOME=" + s.home, "TMPDIR=" + s.home, "PWD=" + s.dir, "LANG=C.UTF-8",
		"BASH_ENV=" + filepath.Join(s.home, "prelude.sh"),
		"OPERON_SHELL_LIB=" + filepath.Join(s.home, "shell_lib.sh"), "OPERON_HOOKS=" + s.dir,
	}
}

// ask returns what the hook prints when it is asked for its configuration, or
// what went wrong.
func (s *Sandbox) ask(ctx context.Context, h Hook) ([]byte, *Finding, error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, h.Path, "--config")
	cmd.Dir, cmd.Env = s.dir, s.env()
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := process.Run(cmd)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err == nil {
		return stdout.Bytes(), nil, nil
	}
	f := &Finding{File: h.Name, Rule: ruleConfigFails, Refused: true}
	var exit *exec.ExitError
	switch {
	case limited.Err() != nil:
		f.Message = fmt.Sprintf("--config did not end within %s", s.timeout)
	case errors.As(err, &exit):
		f.Message = "--config ended with " + strings.Replace(exit.String(), "exit status", "exit code", 1)
	case errors.Is(err, fs.ErrNotExist):
		f.Message = "--config: the interpreter in its first line is not on this machine"
	default:
		f.Message = "--config: " + err.Error()
	}
	if last := lastLines(stderr.String(), 3); last != "" {
		f.Message += ": " + strings.NewReplacer(s.home, "", s.dir+string(filepath.Separator), "").Replace(last)
	}
	return nil, f, nil
}

// lastLines returns the last lines that say something, as one.
func lastLines(text string, n int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
