package scaffold

import (
	"bytes"
	"io/fs"
	"path"
	"slices"

	"github.com/spf13/afero"
)

// Containing returns the paths of the files with an extension, such as ".go", that will contain a text after Apply,
// sorted. Files that cannot be read, and links, which may leave the project, do not count.
func (p *Plan) Containing(extension, text string) ([]string, error) {
	onDisk, err := p.tree.containing(extension, text)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(onDisk), func(name string) bool { return p.entries[name] != nil })
	for name, e := range p.entries {
		if _, content := e.outcome(p.force); path.Ext(name) == extension && bytes.Contains(content, []byte(text)) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, nil
}

// containing returns the files on disk with an extension that contain a text. It reads the disk once.
func (t *tree) containing(extension, text string) ([]string, error) {
	key := [2]string{extension, text}
	if found, searched := t.searched[key]; searched {
		return found, nil
	}
	var names []string
	err := t.below(".", func(name string, is fs.FileMode) {
		if path.Ext(name) == extension && is.IsRegular() {
			t.looked[name] = true
			names = append(names, name)
		}
	})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if content, err := afero.ReadFile(t.fsys, name); err == nil && bytes.Contains(content, []byte(text)) {
			found = append(found, name)
		}
	}
	t.searched[key] = found
	return found, nil
}
