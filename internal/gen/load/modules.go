package load

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/goenv"
)

// modules are the folders of the modules, other than the one of the job, that a folder reaches.
type modules struct {
	above, below []string // the folder is in those above, and contains those below
	skipped      bool     // whether it contains others, which are no part of the project
}

// scan returns the other modules that a folder reaches. It returns an error for a source that is not a
// regular file: the go command would wait until a process writes to a named pipe.
func scan(root, module string, f Folder, modCache string) (others modules, err error) {
	for d := f.Dir; d != root && d != module; d = filepath.Dir(d) {
		found, err := isFile(root, filepath.Join(d, "go.mod"))
		if err != nil {
			return others, err
		}
		if found {
			others.above = append(others.above, d)
		}
	}
	if !onDisk(f.Dir) {
		return others, nil
	}
	err = filepath.WalkDir(f.Dir, func(name string, d fs.DirEntry, err error) error {
		dir := filepath.Dir(name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != f.Dir && (!f.Recursive || d.Name() == ".git") {
				return fs.SkipDir
			}
			return nil
		case f.Recursive && d.Name() == "go.mod" && dir != module && skips(f.Dir, dir, modCache):
			others.skipped = true
		case f.Recursive && d.Name() == "go.mod" && dir != module:
			others.below = append(others.below, dir)
		}
		if d.Type().IsRegular() || !isSource(name) {
			return nil
		}
		_, err = isFile(root, name)
		return err
	})
	return others, err
}

// skips reports whether a module is no part of the project although a path reaches it through a folder: tools
// keep it, it is in the module cache, or in another repository or worktree.
func skips(from, dir, modCache string) bool {
	for ; dir != from; dir = filepath.Dir(dir) {
		name := filepath.Base(dir)
		if goenv.Ignores(name) || name == "node_modules" || name == "third_party" || dir == modCache {
			return true
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
	}
	return false
}
