package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/external"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// yesFlag answers what allow would ask.
const yesFlag = "yes"

// allow returns an error unless the user agrees, now or before, to what a repository can name and
// operon does not trust: a program or a folder of templates, with its checksum. Without a terminal, and for
// help, --yes is the answer. The answers are files in the user's configuration folder, never in a project.
func (a *App) allow(ctx context.Context, question, path, checksum string) error {
	dir := external.ConfigDir(a.Getenv)
	if dir == "" {
		return fault.Usage("set HOME or XDG_CONFIG_HOME", "operon cannot find your configuration folder, which records what you allow")
	}
	sum := sha256.Sum256([]byte(path + "\x00" + checksum))
	answer := filepath.Join(dir, "operon", "consent", hex.EncodeToString(sum[:16]))
	if _, err := os.Stat(answer); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	agree := func() error {
		if err := os.MkdirAll(filepath.Dir(answer), 0o700); err != nil {
			return fault.Failed("make the folder writable, or set XDG_CONFIG_HOME", "cannot record that %s may be used: %v", path, err)
		}
		return atomicfile.WriteBytes(answer, []byte(path+"\n"+checksum+"\n"))
	}
	if a.external.yes {
		return agree()
	}
	if a.Prompt == nil || a.external.help {
		return a.refuse(path)
	}
	return Ask(ctx, func(ctx context.Context) error {
		yes, err := a.Prompt.Confirm(ctx, question+" "+path+" (SHA-256 "+checksum[:min(12, len(checksum))]+")?", false)
		if err != nil {
			return err
		}
		if !yes {
			return a.refuse(path)
		}
		return agree()
	})
}

// allowCommands is allow for commands that PROJECT has. Without an answer, generated files are as unclear as they were.
func (a *App) allowCommands(ctx context.Context, commands, checksum string) error {
	err := a.allow(ctx, "PROJECT has commands that change generated files. Run", strings.ReplaceAll(commands, "\n", "; "), checksum)
	if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Code == fault.CodeUsage {
		return &fault.Error{Code: fault.CodeDifferences, Msg: refused.Msg, Hint: refused.Hint}
	}
	return err
}

// refuse returns the error for a path that the user has not allowed.
func (a *App) refuse(path string) error {
	hint := "run operon generate --yes to allow it, once for each version of it"
	if cmd := a.external.cmd; cmd != nil && cmd.Flags().Lookup(yesFlag) != nil {
		hint = "look at it, then repeat the command with --yes to allow it, once for each version of it"
	}
	return fault.Usage(hint, "you have not allowed operon to use %s", path)
}

// question is the error of a plan that needs an answer of the user.
type question struct{ ask func(context.Context) error }

func (*question) Error() string { return "the command needs an answer" }

// locked is the key of contexts of commands that have the lock of the project.
type locked struct{}

// Ask calls a function that prompts. While a command plans, it has the lock of the project: other commands
// would wait until the user answers. So Ask then returns an error. WritePlan releases the lock, calls the
// function, and plans again: the function must store the answer, so that the second plan finds it.
func Ask(ctx context.Context, ask func(context.Context) error) error {
	if ctx.Value(locked{}) == nil {
		return ask(ctx)
	}
	return &question{ask}
}

// untilAnswered repeats a run until it has all answers.
func untilAnswered(cmd *cobra.Command, run func() error) error {
	for {
		err := run()
		q, asks := errors.AsType[*question](err)
		if !asks {
			return err
		}
		if err := q.ask(cmd.Context()); err != nil {
			return err
		}
	}
}
