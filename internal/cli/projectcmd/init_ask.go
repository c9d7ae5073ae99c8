package projectcmd

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// ask prompts for the domain of a new project if a person can answer. It is in all manifests and cannot change later
// without new kinds.
func (o *initProject) ask(a *command.App) (asked bool, err error) {
	_, missing := os.Stat(filepath.Join(a.Dir, project.File))
	if a.Prompt == nil || o.from != "" || o.cmd.Flags().Changed("domain") || !errors.Is(missing, fs.ErrNotExist) {
		return false, nil
	}
	if err := cmp.Or(checkNested(a), checkOperator(a)); err != nil {
		return false, err
	}
	o.domain, err = a.Prompt.Input(o.cmd.Context(), "Domain of the API groups, such as example.org?", "", func(answer string) error {
		if answer == "" {
			return fault.Usage("use a domain that belongs to you", "the domain is empty")
		}
		return project.CheckDomain(answer)
	})
	if err != nil {
		return false, err
	}
	words := append(command.ChangedFlags(o.cmd), "--domain="+o.domain)
	a.Notef("equivalent command: %s %s", o.cmd.CommandPath(), shellquote.Join(words...))
	return true, nil
}
