package hooks

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Stage is a folder of hooks as it is going to be: that of a project, with what a
// command is about to write in it. Hooks can be run in it before anything is
// written.
type Stage struct {
	root string // of the project's copy
	dir  string // of the hooks in it
}

// NewStage copies folder, of the project at root, to be closed, and changes the
// copy: content by path from root, with slashes, nil for what goes. mode says which
// of them are executable. A folder that is not there is empty.
func NewStage(root, folder string, content map[string][]byte, mode map[string]fs.FileMode) (*Stage, error) {
	home, err := os.MkdirTemp("", "operon-stage-")
	if err != nil {
		return nil, err
	}
	s := &Stage{root: home, dir: filepath.Join(home, filepath.FromSlash(folder))}
	if err := s.fill(filepath.Join(root, filepath.FromSlash(folder)), content, mode); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Dir is the folder of hooks.
func (s *Stage) Dir() string { return s.dir }

// Close removes the copy.
func (s *Stage) Close() { _ = os.RemoveAll(s.root) }

func (s *Stage) fill(from string, content map[string][]byte, mode map[string]fs.FileMode) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(from); err == nil {
		if err := s.copy(from); err != nil {
			return err
		}
	}
	// All first, and what is above before what is below: a file may become a folder, and a
	// link leads out of the copy.
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if err := os.RemoveAll(filepath.Join(s.root, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for name, text := range content {
		if text == nil {
			continue
		}
		as, name := mode[name], filepath.Join(s.root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, as); err != nil {
			return err
		}
		if err := os.Chmod(name, as); err != nil { // whatever the umask
			return err
		}
	}
	return nil
}

// copy copies a folder. Links out of it lead where they led, and what is neither a file,
// a folder nor a link is left out: no hook is one.
func (s *Stage) copy(from string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		to := filepath.Join(s.dir, rel)
		switch info, err := entry.Info(); {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(to, 0o700)
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			if aim := filepath.Join(filepath.Dir(rel), target); !filepath.IsAbs(target) && !filepath.IsLocal(aim) {
				target = filepath.Join(from, aim)
			}
			return os.Symlink(target, to)
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(to, text, info.Mode().Perm()|0o600)
		}
		return nil
	})
}
