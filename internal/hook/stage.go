package hook

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
		if err := os.CopyFS(s.dir, os.DirFS(from)); err != nil {
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
