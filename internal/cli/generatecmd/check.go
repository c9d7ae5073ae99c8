package generatecmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
)

// checkCheck validates the combination of --check with other flags. --check is a dry run
// with its own report and exit code.
func (o *generate) checkCheck() error {
	switch {
	case !o.Check && o.Output == command.FormatGitHub:
		return fault.Usage("add --check, or use --output json", "--output github needs --check")
	case o.Check && o.cmd.Flags().Changed("dry-run"):
		return fault.Usage("remove --dry-run", "--check never writes files")
	}
	o.DryRun = o.DryRun || o.Check
	return nil
}
