package command

import (
	"context"
	"errors"

	"github.com/operon-dev/operon/internal/consent"
	"github.com/operon-dev/operon/internal/external"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// yesFlag answers what allow would ask.
const yesFlag = "yes"

// allow returns an error unless the user agrees, now or before, to what a repository can name and
// operon does not trust: a program or a folder of templates, with its checksum. Without a terminal, and for
// help, --yes is the answer.
func (a *App) allow(ctx context.Context, question, path, checksum string) error {
	dir := external.ConfigDir(a.Getenv)
	if dir == "" {
		return fault.Usage("set HOME or XDG_CONFIG_HOME", "operon cannot find your configuration folder, which records what you allow")
	}
	answers := consent.Open(dir)
	if given, err := answers.Given(path, checksum); given || err != nil {
		return err
	}
	if a.external.yes {
		return answers.Give(path, checksum)
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
		return answers.Give(path, checksum)
	})
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
