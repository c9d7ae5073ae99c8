package foreign

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/gen/overlay"
)

// Head is the last commit of a project in git.
type Head struct {
	dir string
	env []string
}

// Commit returns the last commit of a project. ok is false without git and without a commit.
func Commit(ctx context.Context, dir string, env []string) (h *Head, ok bool) {
	h = &Head{dir, gitEnviron(env)}
	_, err := h.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	return h, err == nil
}

// gitEnviron returns an environment in which git finds the repository from the folder, as it does for a person, changes
// nothing, and asks nobody. A git hook sets variables that name the whole work tree.
func gitEnviron(env []string) []string {
	return append(WithoutGit(env), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
}

// WithoutGit returns an environment without the variables that name the repository.
func WithoutGit(env []string) []string {
	return slices.DeleteFunc(slices.Clone(environ.All(env)), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
}

func (h *Head) git(ctx context.Context, args ...string) ([]byte, error) {
	return environ.Command(ctx, h.dir, h.env, "git", args...).Output()
}

// Read returns the content of a file in the commit. ok is false if the commit lacks it.
func (h *Head) Read(ctx context.Context, path string) (content []byte, ok bool) {
	content, err := h.git(ctx, "show", "HEAD:./"+path)
	return content, err == nil
}

// Files returns the files of the project as the commit has them, without a plan. Files that git ignores are as on the disk.
func (h *Head) Files(ctx context.Context) (*overlay.Project, error) {
	files := &overlay.Project{Dir: h.dir, Changed: map[string][]byte{}}
	changed, err := h.git(ctx, "diff", "--name-only", "-z", "--no-renames", "--relative", "HEAD", "--")
	if err != nil {
		return nil, err
	}
	untracked, err := h.git(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for name := range bytes.SplitSeq(untracked, []byte{0}) {
		if path := h.path(name); path != "" {
			files.Changed[path] = nil
		}
	}
	for name := range bytes.SplitSeq(changed, []byte{0}) {
		path := h.path(name)
		if path == "" {
			continue
		}
		files.Changed[path] = nil
		if content, ok := h.Read(ctx, string(name)); ok {
			files.Changed[path] = append([]byte{}, content...) // never nil
		}
	}
	return files, nil
}

// path returns the absolute path of a file that git names, or "" for what is no regular file: a submodule, a nested
// repository, a link, and the text after the last NUL.
func (h *Head) path(name []byte) string {
	path := filepath.Join(h.dir, filepath.FromSlash(string(name)))
	if info, err := os.Lstat(path); len(name) == 0 || bytes.HasSuffix(name, []byte("/")) || err == nil && !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// Recorded reports whether any commit of any branch recorded a checksum in the list of generated files. Then operon
// wrote the content, on another branch or before the last change: a merge often takes the file of one branch and the
// list of the other.
func (h *Head) Recorded(ctx context.Context, checksum string) bool {
	out, err := h.git(ctx, "log", "--all", "-m", "--format=%H", "-n", "1", "-S", checksum, "--", ".operon/generated.json")
	return err == nil && len(out) > 0
}
