package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/scaffold"
)

// untracked returns the paths of the files that are not in git: neither committed nor
// staged. Ignored files count too. It returns no paths without git, outside a repository,
// and if git tracks no file of the project.
func (a *App) untracked(ctx context.Context, root string, targets []scaffold.Target) (paths []string, err error) {
	if len(targets) == 0 {
		return paths, nil
	}
	tracked, err := a.tracked(ctx, root)
	if err != nil || len(tracked) == 0 {
		return paths, err
	}
	for _, t := range targets {
		if !tracked[t.Real] {
			paths = append(paths, t.Path)
		}
	}
	return paths, nil
}

// tracked returns the paths of the files in git, which are none without git and outside a
// repository.
func (a *App) tracked(ctx context.Context, root string) (map[string]bool, error) {
	tracked := map[string]bool{}
	env := environ.With(a.Environ, "LC_ALL=C") // the error message is compared below
	out, err := environ.Command(ctx, root, env, "git", "ls-files", "-z", "--recurse-submodules").Output()
	switch {
	case ctx.Err() != nil:
		return tracked, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return tracked, nil
	case err != nil:
		if line := FirstLine(err); !strings.Contains(line, "not a git repository") {
			a.Notef("note: cannot check whether generated files are in git (git ls-files: %s)", line)
		}
		return tracked, nil
	}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		tracked[string(name)] = true
	}
	delete(tracked, "") // after the last NUL
	return tracked, nil
}

// ignored returns the files that git ignores, or nil if git fails.
func (a *App) ignored(ctx context.Context, root string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	cmd := environ.Command(ctx, root, a.Environ, "git", "check-ignore", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(names, "\x00") + "\x00")
	out, err := cmd.Output()
	if err != nil {
		return nil // git also fails if no file is ignored
	}
	return strings.Split(string(out), "\x00")
}

// Uncommitted says why git could not show what a command changes in a file: the text that follows the name of
// the file. It returns "" for a file that is equal to the last commit, and without git or a repository.
func (a *App) Uncommitted(ctx context.Context, root, name string) string {
	out, err := environ.Command(ctx, root, a.Environ, "git", "status", "--porcelain", "--", name).Output()
	switch {
	case err != nil, len(out) == 0:
		return ""
	case bytes.HasPrefix(out, []byte("??")):
		return "is not in git yet"
	}
	return "has uncommitted changes"
}

// folderInRepository returns the path of dir relative to the root of its git repository,
// with slashes, or "" outside a repository.
func folderInRepository(dir string) string {
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil { // .git is a file in a worktree
			rel, _ := filepath.Rel(top, dir) // both are absolute
			return filepath.ToSlash(rel)
		}
		if top == filepath.Dir(top) {
			return ""
		}
	}
}

// noteWorkflows says that GitHub does not read new workflows if the project is in a folder of a repository.
func (a *App) noteWorkflows(root string, changes []scaffold.Change) {
	const workflows = ".github/workflows"
	folder := folderInRepository(root)
	if folder == "" || folder == "." || !slices.ContainsFunc(changes, func(c scaffold.Change) bool {
		return c.Op == scaffold.Create && path.Dir(c.Path) == workflows
	}) {
		return
	}
	a.Notef("note: GitHub reads workflows only at the root of a repository: move those of %s there, and run their steps in that folder", folder)
}
