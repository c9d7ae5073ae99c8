package record

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
)

// large is the size from which a file is identified by its stat and not by its content.
// Programs are also identified by their stat, because their permissions matter.
const large = 1 << 20

// outside checks a file that is not a source. The entries of a folder do not matter.
func (t *Tree) outside(name string) error {
	f := File{Path: name}
	old := t.old.files[name]
	content, planned := t.planned[name]
	if !planned {
		current, settled, err := t.look(name)
		switch {
		case err != nil:
			return err
		case !current.Exists():
			t.files[name] = f
			return nil
		case settled.Exists() && settled == old.Stat:
			t.files[name] = old
			return nil
		case current.IsDir():
			f.Sum = SumOf([]byte("a folder"))
			t.files[name] = f
			return nil
		}
		f.Stat = settled
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if info.Size() >= large || info.Mode()&0o111 != 0 {
			f.Sum = SumOf(current.Append(nil))
			t.files[name] = f
			return nil
		}
		if content, err = filestat.ReadFile(name); err != nil {
			return err
		}
	}
	if content != nil {
		f.Sum = SumOf(content)
	}
	t.files[name] = f
	return nil
}

// readAll checks the sources of the listed folders.
func (t *Tree) readAll() error {
	var names []string
	for _, dir := range t.order {
		f := t.folders[dir]
		for _, name := range f.Names {
			if !f.Listed || filepath.Ext(name) != ".go" {
				continue // a folder ends in a slash
			}
			name = filepath.Join(dir, name)
			if _, known := t.sources[name]; !known {
				names = append(names, name)
			}
		}
	}
	found := make([]Source, len(names))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(names); i += runtime.GOMAXPROCS(0) {
				found[i], errs[i] = t.source(names[i])
			}
		})
	}
	group.Wait()
	for i, name := range names {
		t.sources[name] = found[i]
	}
	return errors.Join(errs...)
}

// source returns a source file. It reads the file unless its stat is the recorded one.
func (t *Tree) source(name string) (Source, error) {
	s := Source{Name: filepath.Base(name)}
	old, known := t.old.sources[name]
	content, planned := t.planned[name]
	if !planned {
		current, settled, err := t.look(name)
		switch {
		case err != nil:
			return s, err
		case !current.Exists() || current.IsDir():
			return s, errShape
		case known && settled.Exists() && settled == old.Stat:
			return old, nil
		}
		s.Stat = settled
		if content, err = filestat.ReadFile(name); err != nil {
			return s, err
		}
	}
	t.mu.Lock()
	t.contents[name] = content
	t.mu.Unlock()
	if s.Sum = SumOf(content); known && s.Sum == old.Sum {
		s.Head = old.Head
		return s, nil
	}
	var ok bool
	if s.Head, ok = headOf(content); !ok {
		return s, fmt.Errorf("%s: %w", name, errShape)
	}
	return s, nil
}

// Read returns the content of a source. It returns an error if the source changed after
// the tree checked it.
func (t *Tree) Read(name string) ([]byte, error) {
	t.mu.Lock()
	content, read := t.contents[name]
	t.mu.Unlock()
	if read {
		return content, nil
	}
	content, err := filestat.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if SumOf(content) != t.sources[name].Sum {
		return nil, fmt.Errorf("%s: %w", name, errShape)
	}
	return content, nil
}

// Has reports whether a file is a source of the tree.
func (t *Tree) Has(name string) bool {
	_, ok := t.sources[name]
	return ok
}

// Same reports whether a source has the recorded content.
func (t *Tree) Same(name string) bool {
	now, ok := t.sources[name]
	was, known := t.old.sources[name]
	return ok && known && now.Sum == was.Sum
}

// lists reports whether the go command lists the same packages for both trees.
func (t *Tree) lists(old *Tree) bool {
	if len(t.files) != len(old.files) {
		return false
	}
	for name, f := range t.files {
		if was, ok := old.files[name]; !ok || was.Sum != f.Sum {
			return false
		}
	}
	return t.within(old) && old.within(t)
}

// within reports whether the other tree contains everything in this one that affects the
// listing.
func (t *Tree) within(other *Tree) bool {
	for dir, f := range t.folders {
		var current []string
		if o := other.folders[dir]; o != nil {
			if t.walked(dir) != other.walked(dir) {
				return false // one is a symbolic link, which the go command does not follow
			}
			current = o.Names
		}
		for _, name := range t.deciding(f) {
			if _, ok := slices.BinarySearch(current, name); !ok {
				return false
			}
			source := filepath.Join(dir, name)
			if t.sources[source].Head != other.sources[source].Head {
				return false
			}
		}
	}
	return true
}

// deciding returns the names in a folder that affect the listing. Generated code affects
// it if there is no other code, because that is an error.
func (t *Tree) deciding(f *Folder) []string {
	var names, generated []string
	code := false
	for _, name := range f.Names {
		switch {
		case strings.HasSuffix(name, "/"), !f.Listed && name != "go.mod":
		case t.sources[filepath.Join(f.Dir, name)].Head == ignoredHead:
			generated = append(generated, name)
		default:
			names = append(names, name)
			code = code || filepath.Ext(name) == ".go"
		}
	}
	if code {
		return names
	}
	return append(names, generated...)
}

// Listing reports whether the list of packages is the recorded one.
func (t *Tree) Listing() bool { return t.lists(t.old) }

// Still reports whether the files on the disk are unchanged since the tree checked them.
// What Add checked must also be unchanged since start.
func (t *Tree) Still(start time.Time) bool {
	for name, was := range t.raw {
		if now, err := filestat.Of(name); err != nil || now != was || t.late[name] && !was.Settled(start) {
			return false
		}
	}
	return true
}

// Fill writes the sources of the tree to a record.
func (t *Tree) Fill(r *Record) {
	r.Folders, r.Outside = nil, nil
	for _, dir := range t.order {
		f := *t.folders[dir]
		if !t.raw[dir].Exists() && len(f.Names) == 0 {
			continue // the folder no longer exists
		}
		f.Sources = nil
		for _, name := range f.Names {
			if s, ok := t.sources[filepath.Join(dir, name)]; ok {
				f.Sources = append(f.Sources, s)
			}
		}
		r.Folders = append(r.Folders, f)
	}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		r.Outside = append(r.Outside, t.files[name])
	}
}
