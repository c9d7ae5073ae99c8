package generatecmd

import (
	"context"
	"errors"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
)

// The answers about a file that operon did not write.
const (
	answerKeep    = "keep it: operon never writes it"
	answerReplace = "replace it: it is out of date"
	answerAfter   = "run a command on it after the generators"
)

// decide asks a person about the files that operon did not write, if they are the reason for an error. The answers
// become values of flags, which PROJECT records.
func (o *generate) decide(ctx context.Context, a *command.App, err error) error {
	undecided, ok := errors.AsType[*gen.Undecided](err)
	if !ok || a.Prompt == nil || o.DryRun {
		return err
	}
	return command.Ask(ctx, func(ctx context.Context) error {
		a.Notef("Some generated files have changes that operon did not make.")
		for _, f := range undecided.Files {
			a.Notef("%s", f)
			answer, err := a.Prompt.Select(ctx, "What does operon do with "+f.Path+"?", []string{answerKeep, answerReplace, answerAfter}, answerKeep)
			if err != nil {
				return err
			}
			flag, value := "keep", f.Path
			switch answer {
			case answerReplace:
				flag = "replace"
			case answerAfter:
				flag = "after"
				text, err := a.Prompt.Input(ctx, "Which command changes it? It runs in a copy of the project.", "", func(text string) error {
					if text == "" {
						return fault.Usage("", "write a command")
					}
					return nil
				})
				if err != nil {
					return err
				}
				value += "=" + text
			}
			if err := o.cmd.Flags().Set(flag, value); err != nil {
				return err
			}
		}
		a.Notef("equivalent command: %s %s", o.cmd.CommandPath(), shellquote.Join(command.ChangedFlags(o.cmd)...))
		return nil
	})
}
