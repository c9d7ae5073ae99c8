package hookscmd

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/project"
)

// defaultFolder is the hooks folder of a project.
const defaultFolder = "hooks"

// enterProject makes the project root the working folder, unless the working folder itself has
// hooks or modules. It adapts paths that the user specified relative to the working folder. A
// project without hooks is an error.
func enterProject(a *command.App, paths ...*string) error {
	if hasHooks(a.Dir) {
		return nil
	}
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return nil // there is no project: the command reports what is missing
	}
	cfg, err := a.ReadConfig()
	if err == nil && !a.HasHooks(cfg) && !a.HasModules(cfg) && !hasHooks(root) {
		return fault.Usage("for hooks in another folder, name the folder; operon init --plugins shell creates a hook project", "the project has no hooks")
	}
	for _, path := range paths {
		if *path == "" || filepath.IsAbs(*path) {
			continue
		}
		rel, err := filepath.Rel(root, filepath.Join(a.Dir, *path))
		if err != nil {
			return fault.In("find the project", err)
		}
		*path = rel
	}
	a.Dir = root
	return nil
}

// hasHooks reports whether a folder contains a hooks folder, or belongs to an addon-operator.
func hasHooks(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, defaultFolder))
	_, isAddon := hookproject.FindAddon(dir)
	return isAddon || err == nil && info.IsDir()
}

// pointers returns pointers to the elements of lists.
func pointers(lists ...[]string) []*string {
	var all []*string
	for _, list := range lists {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

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
