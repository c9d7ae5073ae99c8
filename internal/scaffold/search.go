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
// sorted. It reads files that this plan has not read in parallel, and does not keep them: a project can have
// thousands. Files that cannot be read, and links, which may leave the project, do not count.
func (p *Plan) Containing(extension, text string) ([]string, error) {
	var found, unread []string
	for name, e := range p.entries {
		if _, content := e.outcome(p.force); path.Ext(name) == extension && bytes.Contains(content, []byte(text)) {
			found = append(found, name)
		}
	}
	err := p.tree.below(".", false, func(name string, info fs.FileInfo) {
		if p.entries[name] == nil && path.Ext(name) == extension && info.Mode().IsRegular() {
			p.tree.looked[name] = true
			unread = append(unread, name)
		}
	})
	if err != nil {
		return nil, err
	}
	has := make([]bool, len(unread))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			var content bytes.Buffer // of one file after the other: new memory costs more than reading
			for i := w; i < len(unread); i += workers {
				has[i] = readInto(&content, p.tree.fsys, unread[i]) == nil && bytes.Contains(content.Bytes(), []byte(text))
			}
		})
	}
	group.Wait()
	for i, name := range unread {
		if has[i] {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, nil
}

// readInto replaces the content of a buffer by that of a file.
func readInto(buffer *bytes.Buffer, fsys afero.Fs, name string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	buffer.Reset()
	_, err = buffer.ReadFrom(f)
	return errors.Join(err, f.Close())
}
