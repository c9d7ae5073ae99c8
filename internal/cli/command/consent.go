package command

import (
	"context"

	"github.com/operon-dev/operon/internal/consent"
	"github.com/operon-dev/operon/internal/external"
	"github.com/operon-dev/operon/internal/fault"
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
	yes := a.external.yes
	if !yes && a.Prompt != nil && !a.external.help {
		var err error
		if yes, err = a.Prompt.Confirm(ctx, question+" "+path+" (SHA-256 "+checksum[:min(12, len(checksum))]+")?", false); err != nil {
			return err
		}
	}
	if !yes {
		hint := "run operon generate --yes to allow it, once for each version of it"
		if cmd := a.external.cmd; cmd != nil && cmd.Flags().Lookup(yesFlag) != nil {
			hint = "look at it, then repeat the command with --yes to allow it, once for each version of it"
		}
		return fault.Usage(hint, "you have not allowed operon to use %s", path)
	}
	return answers.Give(path, checksum)
}
