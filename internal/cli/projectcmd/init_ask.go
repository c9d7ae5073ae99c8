package projectcmd

import (
	"context"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// askDomain prompts for the domain of a new project, if a person can answer: the names of all kinds contain it. The
// answer becomes the value of the flag, so that the question is not repeated.
func (o *initProject) askDomain(ctx context.Context, a *command.App) error {
	if a.Prompt == nil || o.cmd.Flags().Changed("domain") {
		return nil
	}
	return command.Ask(ctx, func(ctx context.Context) error {
		domain, err := a.Prompt.Input(ctx, "Domain of the API groups, such as example.org?", "", func(answer string) error {
			if answer == "" {
				return fault.Usage("use a domain that belongs to you", "the domain is empty")
			}
			return project.CheckDomain(answer)
		})
		if err != nil {
			return err
		}
		if err := o.cmd.Flags().Set("domain", domain); err != nil {
			return err
		}
		a.Notef("equivalent command: %s %s", o.cmd.CommandPath(), shellquote.Join(command.ChangedFlags(o.cmd)...))
		return nil
	})
}
