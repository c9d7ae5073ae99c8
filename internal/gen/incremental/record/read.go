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
	file := File{Path: name}
	old := t.old.files[name]
	content, planned := t.planned[name]
	if !planned {
		if f := t.folders[filepath.Dir(name)]; f != nil && filepath.Base(name) == goMod && !slices.Contains(f.Names, goMod) {
			t.files[name] = file // the entries of the folder are known
			return nil
		}
		on, settled, err := t.look(name)
		if err != nil {
			return err
		}
		t.looks = append(t.looks, on)
		switch {
		case !on.stat.Exists():
			t.files[name] = file
			return nil
		case settled.Exists() && settled == old.Stat:
			t.files[name] = old
			return nil
		case on.stat.IsDir():
			file.Sum = SumOf([]byte("a folder"))
			t.files[name] = file
			return nil
		}
		file.Stat = settled
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if info.Size() >= large || info.Mode()&0o111 != 0 {
			file.Sum = SumOf(on.stat.Append(nil))
			t.files[name] = file
			return nil
		}
		if content, err = filestat.ReadFile(name); err != nil {
			return err
		}
	}
	if content != nil {
		file.Sum = SumOf(content)
	}
	t.files[name] = file
	return nil
}

// readAll checks the sources of the listed folders.
func (t *Tree) readAll() error {
	type found struct {
		in  *folder
		i   int
		err error
	}
	var all []found
	for _, dir := range t.order {
		f := t.folders[dir]
		if !f.Listed || f.read {
			continue
		}
		f.read = true
		for _, name := range f.Names {
			if filepath.Ext(name) == ".go" { // a folder ends in a slash
				all = append(all, found{in: f, i: len(f.Sources)})
				f.Sources = append(f.Sources, Source{Name: name})
			}
		}
	}
	looks := make([]looked, len(all))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(all); i += runtime.GOMAXPROCS(0) {
				s := &all[i]
				looks[i], s.err = t.check(s.in.Dir, &s.in.Sources[s.i])
			}
		})
	}
	group.Wait()
	t.looks = append(t.looks, slices.DeleteFunc(looks, func(on looked) bool { return on.name == "" })...)
	var errs []error
	for _, s := range all {
		if s.err != nil {
			errs = append(errs, s.err)
		}
	}
	return errors.Join(errs...)
}

// check completes a source in a folder. It reads the file unless its stat is the recorded one. on has no name if
// the plan has the content.
func (t *Tree) check(dir string, s *Source) (on looked, err error) {
	var old *Source
	if f := t.old.folders[dir]; f != nil {
		old = f.source(s.Name)
	}
	name := filepath.Join(dir, s.Name)
	content, planned := t.planned[name]
	if !planned {
		var settled filestat.Stat
		on, settled, err = t.look(name)
		switch {
		case err != nil:
			return on, err
		case !on.stat.Exists() || on.stat.IsDir():
			return on, errShape
		case old != nil && settled.Exists() && settled == old.Stat:
			*s = *old
			return on, nil
		}
		s.Stat = settled
		if content, err = filestat.ReadFile(name); err != nil {
			return on, err
		}
	}
	t.mu.Lock()
	t.contents[name] = content
	t.mu.Unlock()
	if s.Sum = SumOf(content); old != nil && s.Sum == old.Sum {
		s.Head = old.Head
		return on, nil
	}
	var ok bool
	if s.Head, ok = headOf(content); !ok {
		return on, fmt.Errorf("%s: %w", name, errShape)
	}
	return on, nil
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
	if s := t.source(filepath.Split(name)); s == nil || SumOf(content) != s.Sum {
		return nil, fmt.Errorf("%s: %w", name, errShape)
	}
	return content, nil
}

// source returns a source of the tree, or nil.
func (t *Tree) source(dir, name string) *Source {
	if f := t.folders[filepath.Clean(dir)]; f != nil {
		return f.source(name)
	}
	return nil
}

// Has reports whether a file is a source of the tree.
func (t *Tree) Has(name string) bool { return t.source(filepath.Split(name)) != nil }

// Same reports whether the sources with some names in a folder have the recorded content.
func (t *Tree) Same(dir string, names []string) bool {
	now, was := t.folders[dir], t.old.folders[dir]
	if now == nil || was == nil {
		return len(names) == 0
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		a, b := now.source(name), was.source(name)
		return a == nil || b == nil || a.Sum != b.Sum
	})
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
		o := other.folders[dir]
		if o == nil {
			o = &folder{}
		} else if t.walked(dir) != other.walked(dir) {
			return false // one is a symbolic link, which the go command does not follow
		} else if f.same(o) {
			continue
		}
		for _, name := range f.deciding() {
			if _, ok := slices.BinarySearch(o.Names, name); !ok || f.head(name) != o.head(name) {
				return false
			}
		}
	}
	return true
}

// same reports whether everything in two folders that affects the listing is equal.
func (f *folder) same(o *folder) bool {
	return f.Listed == o.Listed && slices.Equal(f.Names, o.Names) &&
		slices.EqualFunc(f.Sources, o.Sources, func(a, b Source) bool { return a.Head == b.Head })
}

// deciding returns the names in a folder that affect the listing. Generated code affects
// it if there is no other code, because that is an error.
func (f *folder) deciding() []string {
	var names, generated []string
	code := false
	for _, name := range f.Names {
		switch {
		case strings.HasSuffix(name, "/"), !f.Listed && name != goMod:
		case f.head(name) == ignoredHead:
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
	return !slices.ContainsFunc(t.looks, func(was looked) bool {
		now, err := filestat.Of(was.name)
		return err != nil || now != was.stat || was.late && !was.stat.Settled(start)
	})
}

// Fill writes the sources of the tree to a record.
func (t *Tree) Fill(r *Record) {
	r.Folders, r.Outside = nil, nil
	for _, dir := range t.order {
		f := t.folders[dir]
		if !f.exists && len(f.Names) == 0 {
			continue // the folder no longer exists
		}
		r.Folders = append(r.Folders, f.Folder)
	}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		r.Outside = append(r.Outside, t.files[name])
	}
}
