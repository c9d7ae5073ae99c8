package hooks

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
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/templates"
)

// shellLib is the shell library that projects get. It replaces the library in the
// engine's image; prelude redirects the path.
var (
	shellLib = library()
	//go:embed prelude.sh
	prelude []byte
)

func library() []byte {
	content, err := templates.FS.ReadFile("shell/bash/hooks/lib/shell_lib.sh")
	if err != nil {
		panic(err) // the file is embedded
	}
	return content
}

// Sandbox runs hooks for their configuration, isolated from the user. Hooks have an empty
// home folder, no kubeconfig and an empty stdin. Their environment has only what finding
// programs requires.
type Sandbox struct {
	dir     string // the hooks folder; for addon-operator, the parent of modules
	home    string
	path    string
	timeout time.Duration

	Kinds config.Kinds // to validate the kinds of bindings; may be nil
}

// noHome is the context of errors of NewSandbox.
const noHome = "make a folder for hooks to run in"

// NewSandbox returns a sandbox for the hooks in dir. Callers must close it. path is the
// PATH of hooks. Hooks run in dir: for addon-operator, the folder that contains modules
// and global-hooks, as in its image.
func NewSandbox(dir, path string, timeout time.Duration) (*Sandbox, error) {
	home, err := os.MkdirTemp("", "operon-hooks-")
	if err != nil {
		return nil, fault.In(noHome, err)
	}
	s := &Sandbox{dir: dir, home: home, path: path, timeout: timeout}
	for name, content := range map[string][]byte{"shell_lib.sh": shellLib, "prelude.sh": prelude} {
		if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
			s.Close()
			return nil, fault.In(noHome, err)
		}
	}
	return s, nil
}

// Close removes the temporary files of the sandbox.
func (s *Sandbox) Close() { _ = os.RemoveAll(s.home) }

// Env returns the environment of hooks in the sandbox.
func (s *Sandbox) Env() []string {
	return append([]string{
		"PATH=" + s.path, "HOME=" + s.home, "TMPDIR=" + s.home, "PWD=" + s.dir, "LANG=C.UTF-8",
	}, s.Library()...)
}

// Library returns the part of the environment that makes the shell library of the
// engine's image available.
func (s *Sandbox) Library() []string {
	return []string{
		"BASH_ENV=" + filepath.Join(s.home, "prelude.sh"),
		"OPERON_SHELL_LIB=" + filepath.Join(s.home, "shell_lib.sh"), "OPERON_HOOKS=" + s.dir,
	}
}

// configOutput is the output of a hook that runs with --config.
type configOutput struct{ stdout, stderr []byte }

// runConfig runs a hook with --config. The finding says why the hook failed.
func (s *Sandbox) runConfig(ctx context.Context, h Hook) (configOutput, *finding.Finding, error) {
	var none configOutput
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, h.Path, "--config")
	cmd.Dir, cmd.Env = s.dir, s.Env()
	cmd.WaitDelay = time.Second
	var stdout, stderr process.Output
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := process.Run(cmd)
	if ctx.Err() != nil {
		return none, nil, context.Cause(ctx)
	}
	onStderr := s.lastLines(stderr.Bytes())
	if err == nil && len(bytes.TrimSpace(stdout.Bytes())) == 0 {
		f := &finding.Finding{File: h.Name, Rule: config.RuleSyntax, Severity: finding.Error, Message: "--config printed nothing: with --config a hook must print its configuration and exit"}
		if onStderr != "" {
			f.Message += "; on stderr: " + onStderr
		}
		return none, f, nil
	}
	if err == nil {
		return configOutput{stdout.Bytes(), stderr.Bytes()}, nil, nil
	}
	f := &finding.Finding{File: h.Name, Rule: ruleConfigFails, Severity: finding.Error}
	var exit *exec.ExitError
	switch {
	case stdout.Err() != nil || stderr.Err() != nil:
		f.Message = fmt.Sprintf("--config %v", process.ErrTooMuchOutput)
	case limited.Err() != nil:
		f.Message = fmt.Sprintf("--config did not end within %s: with --config a hook must print its configuration and exit", s.timeout)
	case errors.As(err, &exit):
		f.Message = "--config failed with " + strings.Replace(exit.String(), "exit status", "exit code", 1)
	case errors.Is(err, fs.ErrNotExist):
		line, _ := firstLine(h.Path)
		f.Message = fmt.Sprintf("--config: the interpreter in its first line, %s, is not on this machine", strings.TrimSpace(strings.TrimPrefix(line, "#!")))
	case errors.Is(err, fs.ErrPermission):
		f.Rule, f.Message = ruleShebang, "cannot be started: "+permissionProblem(h)
	case errors.Is(err, syscall.ENOEXEC):
		f.Rule, f.Message = ruleShebang, "cannot be started: it is neither a script nor a program for this system"
	case errors.Is(err, exec.ErrWaitDelay):
		f.Message = "--config exited, but a background process holds its output open, and the engine waits for that"
	default:
		f.Message = "--config: " + err.Error()
	}
	switch printed := s.lastLines(stdout.Bytes()); {
	case onStderr != "":
		f.Message += ": " + onStderr
		f.Line = lineOf(h, string(stderr.Bytes()))
	case printed != "":
		f.Message += "; it printed: " + printed
	}
	return none, f, nil
}

// permissionProblem returns the reason why the system denies the execution of a hook.
func permissionProblem(h Hook) string {
	target, err := filepath.EvalSymlinks(h.Path)
	if info, failed := os.Stat(h.Path); err == nil && failed == nil && target != h.Path && info.Mode()&0o111 == 0 {
		return "the file that it links to is not executable: chmod +x " + filepath.Base(target)
	}
	return "permission denied"
}

// lineOf returns the line of a hook in an interpreter's error message, or 0. For bash it
// is the first line mentioned, because further errors follow from it. For Python it is
// the last one, because a traceback lists callers first.
func lineOf(h Hook, stderr string) int {
	file := regexp.QuoteMeta(h.Path)
	at := regexp.MustCompile(file + `: line (\d+)`).FindStringSubmatch(stderr)
	if all := regexp.MustCompile(file+`", line (\d+)`).FindAllStringSubmatch(stderr, -1); len(all) > 0 {
		at = all[len(all)-1]
	}
	if at == nil {
		return 0
	}
	line, _ := strconv.Atoi(at[1])
	return line
}
