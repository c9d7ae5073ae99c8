package overlay

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ReadDir returns the entries of a folder, by its absolute path, in the order of their names.
// They have only a name and a type. It does not follow symbolic links in the folder.
func (s *Project) ReadDir(name string) ([]fs.FileInfo, error) {
	onDisk, err := os.ReadDir(name)
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || !s.plansDir(name)) {
		return nil, err
	}
	entries := make(map[string]entry, len(onDisk))
	for _, e := range onDisk {
		entries[e.Name()] = entry{e.Name(), e.Type()}
	}
	for file, content := range s.Changed {
		rest, ok := strings.CutPrefix(file, name+string(filepath.Separator))
		if !ok {
			continue
		}
		base, _, deeper := strings.Cut(rest, string(filepath.Separator))
		switch {
		case content == nil && !deeper:
			delete(entries, base)
		case content != nil && deeper:
			entries[base] = entry{base, fs.ModeDir}
		case content != nil:
			entries[base] = entry{base, 0}
		}
	}
	sorted := make([]fs.FileInfo, 0, len(entries))
	for _, e := range slices.SortedFunc(maps.Values(entries), func(a, b entry) int { return cmp.Compare(a.name, b.name) }) {
		sorted = append(sorted, e)
	}
	return sorted, nil
}

// entry implements [fs.FileInfo].
type entry struct {
	name string
	mode fs.FileMode // the type
}

func (e entry) Name() string       { return e.name }
func (e entry) Mode() fs.FileMode  { return e.mode }
func (e entry) IsDir() bool        { return e.mode.IsDir() }
func (e entry) Size() int64        { return 0 }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) Sys() any           { return nil }
