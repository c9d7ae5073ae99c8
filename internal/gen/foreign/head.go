package foreign

import (
	"bytes"
	"context"
	"path/filepath"

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
	h = &Head{dir, env}
	_, err := h.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	return h, err == nil
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
	for name := range bytes.SplitSeq(append(changed, untracked...), []byte{0}) {
		if len(name) == 0 { // after the last NUL
			continue
		}
		content, ok := h.Read(ctx, string(name))
		if ok {
			content = append([]byte{}, content...) // never nil
		} else {
			content = nil
		}
		files.Changed[filepath.Join(h.dir, filepath.FromSlash(string(name)))] = content
	}
	return files, nil
}

// Recorded reports whether any commit of any branch recorded a checksum in the list of generated files. Then operon
// wrote the content, on another branch or before the last change: a merge often takes the file of one branch and the
// list of the other.
func (h *Head) Recorded(ctx context.Context, checksum string) bool {
	out, err := h.git(ctx, "log", "--all", "--format=%H", "-n", "1", "-S", checksum, "--", ".operon/generated.json")
	return err == nil && len(out) > 0
}
