package hookscmd

import (
	"errors"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
)

// shellHooksFolder returns the absolute path of a folder of shell-operator hooks, for
// commands that do not support addon-operator. instead is the hint for users of
// addon-operator.
func shellHooksFolder(a *command.App, folder, instead string) (string, error) {
	cfg, err := a.ReadConfig()
	isModules := err == nil && a.HasModules(cfg)
	dir, missing := hookproject.Folder(a.Dir, folder)
	if _, found := hookproject.FindAddon(a.Dir); isModules || found && missing != nil {
		return "", fault.Usage(instead, "this command works on the hooks of a shell-operator, and this folder has modules of an addon-operator")
	}
	return dir, missing
}

// explainNoHooks adds a hint that fits the project to a *NoHooksError.
func explainNoHooks(a *command.App, err error) error {
	none, is := errors.AsType[*hookproject.NoHooksError](err)
	if !is {
		return err
	}
	hint := "hooks are executable files outside of lib folders; .yaml, .json, .md and .txt files are never hooks"
	if cfg, err := a.ReadConfig(); err == nil && a.HasHooks(cfg) {
		hint = "add one: operon create hook NAME --on kubernetes:KIND"
	}
	if none.NotExecutable != "" {
		hint = "hooks must be executable: chmod +x " + none.NotExecutable
	}
	return fault.Usage(hint, "%s", none.Error())
}
