package generatecmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
)

const aboutCheck = `
With --check nothing is written: what would be generated is compared with what is
there, and the exit code is 3 unless they are the same. A file is

    missing     it is not there
    differs     it is out of date, or edited by hand
    stale       operon generated it, and nothing generates it any more
    untracked   it is right, but not in git: a checkout would lack it

A file of which only the generator's version differs is reported as that. It
counts, for the next one who generates would change it; warnings do not. Nothing
is untracked without git, outside of a repository, and in a project of which git
has no file. --output github prints annotations for a workflow of GitHub Actions.`

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
