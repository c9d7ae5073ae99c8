// Package hookproject opens the hooks of a project with their CRDs and kinds. The hooks are
// in the hooks folder of a shell-operator, or in the modules and global hooks of an
// addon-operator. The package validates them and derives their RBAC rules.
package hookproject

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/project"
)

// Hooks are the hooks that a command works on.
type Hooks struct {
	Root   string // the absolute folder of the hooks, which is their working folder
	Label  string // the name of Root in messages
	All    []hooks.Hook
	Addon  *Addon // nil for hooks of a shell-operator
	folder string // the hooks folder of a shell-operator, as the user named it
}

// Find returns the hooks of an addon-operator if the working folder belongs to one and
// has no hooks folder. Otherwise it returns the shell-operator hooks in that folder.
// folder may be relative to the working folder.
func Find(workDir, folder string) (*Hooks, error) {
	if a, found := FindAddon(workDir); found && (a.part != "" || !isFolder(Abs(workDir, folder))) {
		_, all, _, err := a.hooks()
		return &Hooks{Root: a.Root, Label: "the project", All: all, Addon: &a, folder: "the project"}, err
	}
	dir := Abs(workDir, folder)
	all, _, err := hooks.Discover(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Usage(OtherFolderHint(workDir, "name the folder with --hooks"), "there is no folder %s", folder)
	}
	if err != nil {
		return nil, err
	}
	return &Hooks{Root: dir, Label: folder, All: all, folder: folder}, nil
}

// Names returns the names of all hooks.
func (h *Hooks) Names() []string {
	var names []string
	for _, hook := range h.All {
		names = append(names, hook.Name)
	}
	return names
}

// Root returns the project root for a hooks folder: the nearest folder, from the hooks
// folder upward, with a PROJECT file, or else the parent of the hooks folder.
func Root(hooksDir string) string {
	for root := hooksDir; ; root = filepath.Dir(root) {
		if isFile(filepath.Join(root, project.File)) {
			return root
		}
		if filepath.Dir(root) == root {
			return filepath.Dir(hooksDir)
		}
	}
}

// Folder returns the absolute path of a hooks folder. A folder that does not exist is an
// error.
func Folder(workDir, name string) (string, error) {
	const imageHint = "name the folder that becomes /hooks in the image"
	dir := Abs(workDir, name)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.Usage(OtherFolderHint(workDir, imageHint), "there is no folder %s", name)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fault.Usage(imageHint+", such as "+filepath.ToSlash(filepath.Dir(name)), "%s is not a folder", name)
	}
	return dir, nil
}

// OtherFolderHint returns a hint for a missing folder. Below the project root the hint is
// to change to the root; otherwise it is the given hint.
func OtherFolderHint(workDir, otherwise string) string {
	root, err := project.FindRoot(workDir)
	if err != nil || root == workDir {
		return otherwise
	}
	return "change into the project's folder: cd " + root
}

// Abs returns the absolute form of a path that is relative to the working folder.
func Abs(workDir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(workDir, name)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
