// Package projectcopy copies a project as it will be after a plan is applied, for generators that read
// and write the disk themselves.
package projectcopy

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"golang.org/x/mod/modfile"
)

// Copy is a copy of a project.
type Copy struct {
	Dir     string   // absolute
	Folders []string // with Go files, relative to the root
}

// Stat identifies a version of a file.
type Stat struct {
	size     int64
	modified time.Time
}

// copied is the time of all files in the copy, so that what a generator writes has another.
var copied = time.Unix(1, 0)

// maxSize is the size of the largest file that is copied. Sources and manifests are smaller;
// programs and archives are larger.
const maxSize = 16 << 20

// New copies the files of a project, with the changes of the plan, into a temporary folder that
// files.Close removes.
func New(ctx context.Context, files *overlay.Project) (*Copy, error) {
	progress.From(ctx)("copying the project", 0, 0)
	temp, err := files.TempDir()
	if err != nil {
		return nil, err
	}
	c := &Copy{Dir: filepath.Join(temp, "project")}
	folders := map[string]bool{}
	err = filepath.WalkDir(files.Dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir():
			if base := d.Name(); name != files.Dir && (base == ".git" || base == ".operon" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if d.Name() == ".git" { // of a worktree or submodule: git would work on the real repository
			return nil
		}
		info, err := os.Stat(name) // what a link points to
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
			return nil //nolint:nilerr // a link to nothing
		}
		return c.write(name, files, folders)
	})
	if err != nil {
		return nil, err
	}
	for name, content := range files.Changed {
		if content != nil {
			if err := c.write(name, files, folders); err != nil {
				return nil, err
			}
		}
	}
	c.Folders = slices.Sorted(maps.Keys(folders))
	return c, nil
}

// write writes a file of the project, unless the plan removes it.
func (c *Copy) write(name string, files *overlay.Project, folders map[string]bool) error {
	content, err := files.Read(name)
	if err != nil {
		return nil //nolint:nilerr // the plan removes it, or it is not readable
	}
	rel, ok := overlay.Rel(files.Dir, name)
	if !ok {
		return nil
	}
	switch filepath.Ext(name) {
	case ".go":
		folder, _ := overlay.Rel(files.Dir, filepath.Dir(name))
		folders[folder] = true
	case ".mod":
		content = absolute(content, filepath.Dir(name), files.Dir)
	}
	to := filepath.Join(c.Dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil && info.Mode()&0o100 != 0 {
		mode = 0o700
	}
	if err := os.WriteFile(to, content, mode); err != nil {
		return err
	}
	return os.Chtimes(to, copied, copied)
}

// Write writes a file of the copy, by its slash-separated path.
func (c *Copy) Write(path string, content []byte) error {
	name := filepath.Join(c.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(name, copied, copied)
}

// absolute makes the folders outside root absolute that replace modules in a go.mod, which is in
// dir.
func absolute(content []byte, dir, root string) []byte {
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return content
	}
	for _, r := range slices.Clone(file.Replace) {
		folder := overlay.Join(dir, r.New.Path)
		if _, inside := overlay.Rel(root, folder); r.New.Version != "" || inside {
			continue
		}
		if file.AddReplace(r.Old.Path, r.Old.Version, folder, "") != nil {
			return content
		}
	}
	changed, err := file.Format()
	if err != nil {
		return content
	}
	return changed
}

// Stats returns the sizes and times of all files in the copy, by slash-separated path.
func (c *Copy) Stats() (map[string]Stat, error) {
	all := map[string]Stat{}
	err := filepath.WalkDir(c.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := overlay.Rel(c.Dir, name)
		all[rel] = Stat{info.Size(), info.ModTime()}
		return nil
	})
	return all, err
}
