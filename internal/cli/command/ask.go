package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// question is the error of a plan that needs an answer of the user.
type question struct{ ask func(context.Context) error }

func (*question) Error() string { return "the command needs an answer" }

// locked is the key of contexts of commands that have the lock of the project.
type locked struct{}

// Ask calls a function that prompts. While a command plans, it has the lock of the project, for which other commands
// would wait as long as the user thinks. So Ask then returns an error, on which WritePlan releases the lock, calls the
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
