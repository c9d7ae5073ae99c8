package hooks

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/templates"
)

// shellLib is the shell library of new projects. In the sandbox it replaces the library of
// the engine's image: prelude redirects the path.
var (
	shellLib = readShellLib()
	//go:embed prelude.sh
	prelude []byte
)

func readShellLib() []byte {
	content, err := templates.FS.ReadFile("shell/bash/hooks/lib/shell_lib.sh")
	if err != nil {
		panic(err) // the file is embedded
	}
	return content
}

// Sandbox runs hooks with --config, isolated from the user's environment. Hooks have an
// empty home folder, no kubeconfig, an empty stdin, and few environment variables: see Env.
type Sandbox struct {
	dir     string // the hooks folder; for addon-operator, the parent of modules
	home    string
	path    string
	timeout time.Duration

	Kinds *kubeapi.Kinds // validates the kinds of bindings; nil means no validation
}

// createSandbox is the context of errors of NewSandbox.
const createSandbox = "create a temporary folder for hooks"

// NewSandbox returns a sandbox for the hooks in dir, which is also their working folder. For
// addon-operator, dir is the folder that contains modules and global-hooks. path is the PATH
// of hooks, and timeout limits each run. The caller must close the sandbox.
func NewSandbox(dir, path string, timeout time.Duration) (*Sandbox, error) {
	home, err := os.MkdirTemp("", "operon-hooks-")
	if err != nil {
		return nil, fault.In(createSandbox, err)
	}
	s := &Sandbox{dir: dir, home: home, path: path, timeout: timeout}
	for name, content := range map[string][]byte{"shell_lib.sh": shellLib, "prelude.sh": prelude} {
		if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
			s.Close()
			return nil, fault.In(createSandbox, err)
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
	}, s.LibraryEnv()...)
}

// LibraryEnv returns the environment variables that make the shell library of the engine's
// image available.
func (s *Sandbox) LibraryEnv() []string {
	return []string{
		"BASH_ENV=" + filepath.Join(s.home, "prelude.sh"),
		"OPERON_SHELL_LIB=" + filepath.Join(s.home, "shell_lib.sh"), "OPERON_HOOKS=" + s.dir,
	}
}

// configOutput is the output of a hook that runs with --config.
type configOutput struct{ stdout, stderr []byte }

// runConfig runs a hook with --config. ok is false if the hook failed; the finding is the
// reason.
func (s *Sandbox) runConfig(ctx context.Context, h Hook) (output configOutput, f finding.Finding, ok bool, err error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	command := append(Command(h.Path), "--config")
	cmd := exec.CommandContext(limited, command[0], command[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.Env()
	cmd.WaitDelay = time.Second
	var stdout, stderr process.Output
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := process.Run(cmd)
	if ctx.Err() != nil {
		return output, f, false, context.Cause(ctx)
	}
	output = configOutput{stdout.Bytes(), stderr.Bytes()}
	onStderr := s.lastLines(output.stderr)
	switch {
	case runErr == nil && len(bytes.TrimSpace(output.stdout)) == 0:
		f = config.RuleSyntax.At(h.Name, 0, 0, "--config printed nothing: with --config, a hook must print its configuration and exit")
		if onStderr != "" {
			f.Message += "; on stderr: " + onStderr
		}
		return output, f, false, nil
	case runErr == nil:
		return output, f, true, nil
	case stdout.Err() != nil || stderr.Err() != nil:
		f = ruleConfigFails.At(h.Name, 0, 0, "--config %v", process.ErrTooMuchOutput)
	case limited.Err() != nil:
		f = ruleConfigFails.At(h.Name, 0, 0, "--config did not end within %s: with --config, a hook must print its configuration and exit", s.timeout)
	default:
		f = configFailure(h, runErr)
		if name := s.missingInterpreter(h, runErr); name != "" {
			f = RuleNoInterpreter.At(h.Name, 1, 0, "%s is not on the PATH: install it to run the hook on this machine", name)
			return output, f, false, nil
		}
	}
	if onStderr != "" {
		f.Message += ": " + onStderr
		f.Line = lineOf(h, string(output.stderr))
	} else if onStdout := s.lastLines(output.stdout); onStdout != "" {
		f.Message += "; it printed: " + onStdout
	}
	return output, f, false, nil
}

// configFailure returns the finding for a hook whose run with --config resulted in an error.
func configFailure(h Hook, err error) finding.Finding {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return ruleConfigFails.At(h.Name, 0, 0, "--config failed with %s", strings.Replace(exit.String(), "exit status", "exit code", 1))
	case errors.Is(err, fs.ErrNotExist):
		line, _ := firstLine(h.Path)
		return ruleConfigFails.At(h.Name, 0, 0, "--config: the interpreter in the first line, %s, does not exist", strings.TrimSpace(strings.TrimPrefix(line, "#!")))
	case errors.Is(err, fs.ErrPermission):
		return ruleShebang.At(h.Name, 0, 0, "cannot be started: %s", permissionProblem(h))
	case errors.Is(err, syscall.ENOEXEC):
		return ruleShebang.At(h.Name, 0, 0, "cannot be started: it is neither a script nor a program for this system")
	case errors.Is(err, exec.ErrWaitDelay):
		return ruleConfigFails.At(h.Name, 0, 0, "--config exited, but a background process keeps its output open, and the engine waits for that process")
	}
	return ruleConfigFails.At(h.Name, 0, 0, "--config: %v", err)
}

// exitNotFound is the exit code of env for a program that is not in PATH.
const exitNotFound = 127

// missingInterpreter returns the name of the program that env in the first line of a hook does not
// find on the PATH, or "". err is the error of the run.
func (s *Sandbox) missingInterpreter(h Hook, err error) string {
	exit, is := errors.AsType[*exec.ExitError](err)
	line, readErr := firstLine(h.Path)
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !is || exit.ExitCode() != exitNotFound || readErr != nil || len(fields) < 2 || filepath.Base(fields[0]) != "env" {
		return ""
	}
	name := fields[len(fields)-1]
	if fields[1] == "-S" && len(fields) > 2 {
		name = fields[2]
	}
	if s.onPath(name) {
		return ""
	}
	return name
}

func (s *Sandbox) onPath(program string) bool {
	return slices.ContainsFunc(filepath.SplitList(s.path), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, program))
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
}

// CheckLibrary returns an error if a hook sources operon's library for bash, and jq is missing, which the library
// needs to read the binding context.
func (s *Sandbox) CheckLibrary(h Hook) error {
	content, err := input.ReadFile(h.Path, input.Data)
	if err == nil && bytes.Contains(content, []byte("/shell_lib.sh")) && !s.onPath("jq") {
		return fault.Failed("install jq, which the hook needs on this machine, too", "jq is not on the PATH: %s needs it", h.Name)
	}
	return nil // running the hook reports other errors
}

// permissionProblem returns the reason why the system denies the execution of a hook.
func permissionProblem(h Hook) string {
	target, err := filepath.EvalSymlinks(h.Path)
	if info, failed := os.Stat(h.Path); err == nil && failed == nil && target != h.Path && info.Mode()&0o111 == 0 {
		return "the target of the link is not executable: run chmod +x " + filepath.Base(target)
	}
	return "permission denied"
}

// lineOf returns the line of a hook that caused the error messages of its interpreter, or 0.
// Of the lines in messages of bash, that is the first, because it causes later errors. Of the
// lines in a Python traceback, it is the last, because a traceback lists callers first.
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
