package generatecmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
)

// checkCheck validates the flags around --check, which is a dry run with a
// report and an end of its own.
func (o *generate) checkCheck() error {
	switch {
	case !o.Check && o.Output == command.FormatGitHub:
		return fault.Usage("add --check, or use --output json", "--output github is a form of what --check reports")
	case o.Check && o.cmd.Flags().Changed("dry-run"):
		return fault.Usage("leave --dry-run out", "--check writes nothing in any case")
	}
	o.DryRun = o.DryRun || o.Check
	return nil
}
