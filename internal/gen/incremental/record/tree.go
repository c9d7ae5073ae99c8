package record

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/goenv"
)

// Tree has the sources of a project as they will be after a plan is applied.
type Tree struct {
	planned map[string][]byte          // content by absolute path; nil: removed
	names   map[string]map[string]bool // names that the plan adds to folders (true) or removes (false)
	old     *Tree                      // the recorded tree

	folders map[string]*folder
	order   []string
	files   map[string]File
	found   []found
	adds    bool

	mu       sync.Mutex
	contents map[string][]byte // of the sources that were read, by absolute path
}

// folder is a folder of a tree.
type folder struct {
	Folder
	exists bool // on the disk, not only planned
	read   bool // the sources are complete
}

// source returns the source with a name, or nil if the folder has none.
func (f *folder) source(name string) *Source {
	i, ok := slices.BinarySearchFunc(f.Sources, name, func(s Source, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil
	}
	return &f.Sources[i]
}

// head returns what affects the listing in the source with a name, or zero if the folder has none.
func (f *folder) head(name string) Sum {
	if s := f.source(name); s != nil {
		return s.Head
	}
	return Sum{}
}

// found is what was at a path on the disk.
type found struct {
	name string
	stat filestat.Stat
	late bool // Add checked it
}

const goMod = "go.mod"

// errShape is the error for a path that is neither a file nor a folder.
var errShape = errors.New("the sources have an unusual shape")

// Look compares the walks with the record, which may be nil. It does not read files that
// have the recorded stats. planned has the content of the files that a plan changes, by
// absolute path, and nil for those that it removes.
func (r *Record) Look(walks []Walk, planned map[string][]byte) (*Tree, error) {
	t := newTree(planned)
	t.old = newTree(nil)
	if r != nil {
		t.old.fill(r)
	}
	t.plan()
	for _, w := range walks {
		if err := t.visit(w.Dir, w.Below, true); err != nil {
			return nil, err
		}
	}
	if err := t.readAll(); err != nil {
		return nil, err
	}
	return t, nil
}

func newTree(planned map[string][]byte) *Tree {
	return &Tree{planned: planned, names: map[string]map[string]bool{}, folders: map[string]*folder{}, files: map[string]File{},
		contents: map[string][]byte{}}
}

func (t *Tree) fill(r *Record) {
	for _, f := range r.Folders {
		t.folders[f.Dir] = &folder{Folder: f}
	}
	for _, f := range r.Outside {
		t.files[f.Path] = f
	}
}

// Add checks listed folders outside the walks, and files that are not sources.
func (t *Tree) Add(folders, outside []string) error {
	t.adds = true
	for _, dir := range folders {
		if err := t.visit(dir, false, true); err != nil {
			return err
		}
	}
	for _, name := range outside {
		if err := t.outside(name); err != nil {
			return err
		}
	}
	return t.readAll()
}

// Again checks the other folders and files of the record.
func (t *Tree) Again() error {
	var folders []string
	for dir, f := range t.old.folders {
		if f.Listed {
			folders = append(folders, dir)
		}
	}
	return t.Add(folders, slices.Collect(maps.Keys(t.old.files)))
}

// walked reports whether the folder was found in its parent folder.
func (t *Tree) walked(dir string) bool {
	above := t.folders[filepath.Dir(dir)]
	if above == nil {
		return false
	}
	_, ok := slices.BinarySearch(above.Names, filepath.Base(dir)+"/")
	return ok
}

// plan computes the names that the plan adds to folders or removes from them.
func (t *Tree) plan() {
	note := func(name, end string, there bool) {
		dir := filepath.Dir(name)
		if t.names[dir] == nil {
			t.names[dir] = map[string]bool{}
		}
		t.names[dir][filepath.Base(name)+end] = there
	}
	for name, content := range t.planned {
		note(name, "", content != nil)
		for dir := filepath.Dir(name); content != nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			note(dir, "/", true)
		}
	}
}

// visit adds a folder, and the folders below it if asked. Folders that the go command
// ignores, and those below, are not listed.
func (t *Tree) visit(dir string, below, listed bool) error {
	f := t.folders[dir]
	if f == nil {
		var err error
		if f, err = t.folder(dir); err != nil {
			return err
		}
		t.folders[dir] = f
		t.order = append(t.order, dir)
	}
	f.Listed = f.Listed || listed
	if !below {
		return nil
	}
	for _, name := range f.Names {
		if sub, isDir := strings.CutSuffix(name, "/"); isDir {
			if err := t.visit(filepath.Join(dir, sub), true, listed && !ignored(sub)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ignored reports whether the go command ignores folders of this name below a pattern.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor"
}

// folder checks one folder.
func (t *Tree) folder(dir string) (*folder, error) {
	f := &folder{Folder: Folder{Dir: dir}}
	is, settled, err := t.look(dir)
	if err != nil {
		return nil, err
	}
	t.found = append(t.found, is)
	switch {
	case !is.stat.Exists():
		// The folder contains what the plan adds, or nothing.
	case !is.stat.IsDir():
		return nil, errShape
	default:
		f.exists, f.Stat = true, settled
		if old := t.old.folders[dir]; old != nil && settled.Exists() && old.Stat == settled && t.names[dir] == nil {
			f.Names = old.Names
			return f, nil
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if name := e.Name(); e.IsDir() && name != ".git" {
				f.Names = append(f.Names, name+"/")
			} else if !e.IsDir() && matters(name) {
				f.Names = append(f.Names, name)
			}
		}
	}
	for name, there := range t.names[dir] {
		f.Stat = filestat.Stat{} // the stat on the disk does not cover the plan
		if i := slices.Index(f.Names, name); i < 0 && there && (matters(name) || strings.HasSuffix(name, "/")) {
			f.Names = append(f.Names, name)
		} else if i >= 0 && !there {
			f.Names = slices.Delete(f.Names, i, i+1)
		}
	}
	slices.Sort(f.Names)
	return f, nil
}

// look returns what is at a path on the disk. settled is its stat if it can be relied on later, and zero
// otherwise.
func (t *Tree) look(name string) (is found, settled filestat.Stat, err error) {
	now := time.Now()
	is = found{name: name, late: t.adds}
	if is.stat, err = filestat.Of(name); err == nil && is.stat.Settled(now) {
		settled = is.stat
	}
	return is, settled, err
}

// matters reports whether the go command reads files of this name to list packages or to
// find modules. Some file systems ignore case.
func matters(name string) bool { return strings.EqualFold(name, goMod) || goenv.Source(name) }
