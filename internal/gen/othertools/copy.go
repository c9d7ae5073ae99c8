package othertools

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"golang.org/x/mod/modfile"
)

// stat identifies a version of a file.
type stat struct {
	size     int64
	modified time.Time
}

// copied is the time of all files in the copy, so that what controller-gen writes has another.
var copied = time.Unix(1, 0)

// maxSize is the size of the largest file that is copied. Sources and manifests are smaller;
// programs and archives are larger.
const maxSize = 16 << 20

// copy copies the files of the project as they will be after the plan is applied.
func (t *Tools) copy(ctx context.Context, files *overlay.Project) error {
	folders := map[string]bool{}
	err := filepath.WalkDir(files.Dir, func(name string, d fs.DirEntry, err error) error {
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
		info, err := os.Stat(name) // what a link points to
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
			return nil //nolint:nilerr // a link to nothing
		}
		return t.write(name, files, folders)
	})
	if err != nil {
		return err
	}
	for name, content := range files.Changed {
		if content != nil {
			if err := t.write(name, files, folders); err != nil {
				return err
			}
		}
	}
	t.folders = slices.Sorted(maps.Keys(folders))
	return nil
}

// write writes a file of the project, unless the plan removes it.
func (t *Tools) write(name string, files *overlay.Project, folders map[string]bool) error {
	content, err := files.Read(name)
	if err != nil {
		return nil //nolint:nilerr // the plan removes it, or nobody may read it
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
	to := filepath.Join(t.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, copied, copied)
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

// stats returns the sizes and times of all files in the copy, by slash-separated path.
func (t *Tools) stats() (map[string]stat, error) {
	all := map[string]stat{}
	err := filepath.WalkDir(t.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := overlay.Rel(t.dir, name)
		all[rel] = stat{info.Size(), info.ModTime()}
		return nil
	})
	return all, err
}
