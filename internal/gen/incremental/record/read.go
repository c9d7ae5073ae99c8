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
		if filepath.Base(name) == goMod && t.folders[filepath.Dir(name)].lacksGoMod() {
			t.files[name] = file
			return nil
		}
		is, settled, err := t.look(name)
		if err != nil {
			return err
		}
		t.found = append(t.found, is)
		switch {
		case !is.stat.Exists():
			t.files[name] = file
			return nil
		case settled.Exists() && settled == old.Stat:
			t.files[name] = old
			return nil
		case is.stat.IsDir():
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
			file.Sum = SumOf(is.stat.Append(nil))
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

// lacksGoMod reports whether the entries of a folder are known, and there is no go.mod.
func (f *folder) lacksGoMod() bool {
	return f != nil && !slices.ContainsFunc(f.Names, func(name string) bool { return strings.EqualFold(name, goMod) })
}

// readAll checks the sources of the listed folders.
func (t *Tree) readAll() error {
	type source struct {
		folder *folder
		i      int
	}
	var sources []source
	for _, dir := range t.order {
		f := t.folders[dir]
		if !f.Listed || f.read {
			continue
		}
		f.read = true
		for _, name := range f.Names {
			if filepath.Ext(name) == ".go" { // a folder ends in a slash
				sources = append(sources, source{f, len(f.Sources)})
				f.Sources = append(f.Sources, Source{Name: name})
			}
		}
	}
	all := make([]found, len(sources))
	errs := make([]error, len(sources))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(sources); i += runtime.GOMAXPROCS(0) {
				s := sources[i]
				all[i], errs[i] = t.check(s.folder.Dir, &s.folder.Sources[s.i])
			}
		})
	}
	group.Wait()
	t.found = append(t.found, slices.DeleteFunc(all, func(is found) bool { return is.name == "" })...)
	return errors.Join(errs...)
}

// check completes a source in a folder. It reads the file unless its stat is the recorded one. The result has no
// name if the plan has the content.
func (t *Tree) check(dir string, s *Source) (is found, err error) {
	var old *Source
	if f := t.old.folders[dir]; f != nil {
		old = f.source(s.Name)
	}
	name := filepath.Join(dir, s.Name)
	content, planned := t.planned[name]
	if !planned {
		var settled filestat.Stat
		is, settled, err = t.look(name)
		switch {
		case err != nil:
			return is, err
		case !is.stat.Exists() || is.stat.IsDir():
			return is, errShape
		case old != nil && settled.Exists() && settled == old.Stat:
			*s = *old
			return is, nil
		}
		s.Stat = settled
		if content, err = filestat.ReadFile(name); err != nil {
			return is, err
		}
	}
	t.mu.Lock()
	t.contents[name] = content
	t.mu.Unlock()
	if s.Sum = SumOf(content); old != nil && s.Sum == old.Sum {
		s.Head = old.Head
		return is, nil
	}
	var ok bool
	if s.Head, ok = headOf(content); !ok {
		return is, fmt.Errorf("%s: %w", name, errShape)
	}
	return is, nil
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
		switch {
		case o == nil:
			o = &folder{}
		case t.walked(dir) != other.walked(dir):
			return false // one is a symbolic link, which the go command does not follow
		case f.same(o):
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
	return !slices.ContainsFunc(t.found, func(was found) bool {
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
