package scaffold

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"

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

// containing returns the files on disk with an extension that contain a text. It reads the disk once. A project
// can have thousands of files, so it reads in parallel, and keeps no content.
func (t *tree) containing(extension, text string) ([]string, error) {
	key := [2]string{extension, text}
	if found, searched := t.searched[key]; searched {
		return found, nil
	}
	var names []string
	err := t.below(".", false, func(name string, is fs.FileMode) {
		if path.Ext(name) == extension && is.IsRegular() {
			t.looked[name] = true
			names = append(names, name)
		}
	})
	if err != nil {
		return nil, err
	}
	has := make([]bool, len(names))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			var content bytes.Buffer // of one file after the other: new memory costs more than reading
			for i := w; i < len(names); i += workers {
				has[i] = readInto(&content, t.fsys, names[i]) == nil && bytes.Contains(content.Bytes(), []byte(text))
			}
		})
	}
	group.Wait()
	var found []string
	for i, name := range names {
		if has[i] {
			found = append(found, name)
		}
	}
	t.searched[key] = found
	return found, nil
}

// readInto replaces the content of a buffer by a file's.
func readInto(buffer *bytes.Buffer, fsys afero.Fs, name string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	buffer.Reset()
	_, err = buffer.ReadFrom(f)
	return errors.Join(err, f.Close())
}
