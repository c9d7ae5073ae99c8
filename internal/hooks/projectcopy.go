package hooks

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
)

// ProjectCopy is a temporary copy of a project's hooks folder with the changes that a
// command is about to make. Hooks can run in it before the command writes anything.
type ProjectCopy struct {
	root string // root of the copy
	dir  string // hooks folder in the copy
}

// CopyProject copies a folder of the project at root, and changes files in the copy. content
// has the new contents by path, relative to root and with slashes; nil removes a file. mode
// has the modes of these files. A missing folder counts as empty. The caller must close the
// copy.
func CopyProject(root, folder string, content map[string][]byte, mode map[string]fs.FileMode) (*ProjectCopy, error) {
	temp, err := os.MkdirTemp("", "operon-project-")
	if err != nil {
		return nil, err
	}
	c := &ProjectCopy{root: temp, dir: filepath.Join(temp, filepath.FromSlash(folder))}
	if err := c.fill(filepath.Join(root, filepath.FromSlash(folder)), content, mode); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Dir returns the hooks folder of the copy.
func (c *ProjectCopy) Dir() string { return c.dir }

// Close removes the copy.
func (c *ProjectCopy) Close() { _ = os.RemoveAll(c.root) }

func (c *ProjectCopy) fill(from string, content map[string][]byte, mode map[string]fs.FileMode) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(from); err == nil {
		if err := c.copy(from); err != nil {
			return err
		}
	}
	for _, pattern := range dockerfiles { // they can make hooks executable
		names, _ := filepath.Glob(filepath.Join(filepath.Dir(from), pattern)) // the pattern is correct
		for _, name := range names {
			if src, err := input.ReadFile(name, input.Text); err == nil {
				if err := os.WriteFile(filepath.Join(filepath.Dir(c.dir), filepath.Base(name)), src, 0o600); err != nil {
					return err
				}
			}
		}
	}
	// Remove all files first, parents before children: a file may become a folder, and
	// writing through a link would change a file outside the copy.
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if err := os.RemoveAll(filepath.Join(c.root, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for name, text := range content {
		if text == nil {
			continue
		}
		perm, name := mode[name], filepath.Join(c.root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := process.WriteProgram(name, text, perm); err != nil {
			return err
		}
		if err := os.Chmod(name, perm); err != nil { // independent of the umask
			return err
		}
	}
	return nil
}

// copy copies a folder. Links that point outside the folder keep their targets. Sockets,
// pipes and devices are skipped, because they cannot be hooks.
func (c *ProjectCopy) copy(from string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		to := filepath.Join(c.dir, rel)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return os.MkdirAll(to, 0o700)
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			if resolved := filepath.Join(filepath.Dir(rel), target); !filepath.IsAbs(target) && !filepath.IsLocal(resolved) {
				target = filepath.Join(from, resolved)
			}
			return os.Symlink(target, to)
		case info.Mode().IsRegular():
			text, err := input.ReadFile(name, input.Text)
			if err != nil {
				return err
			}
			return process.WriteProgram(to, text, info.Mode().Perm()|0o600)
		}
		return nil
	})
}
