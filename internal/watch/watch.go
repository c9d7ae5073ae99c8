// Package watch reports which files below a folder change. It knows which files matter
// in a Go project, follows folders as they are created and removed, and reports the many
// events of a save or a checkout at once. The caller decides what a change means.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Everything is the path that means all files: the system lost events.
const Everything = "."

// ErrGone means that the watched folder itself was removed or renamed.
var ErrGone = errors.New("the watched folder was removed or renamed")

const (
	// quiet is the pause after which changes are reported. An editor writes, renames and
	// sets modes within it.
	quiet = 50 * time.Millisecond
	// longest is the time after which changes are reported even without a pause.
	longest = 500 * time.Millisecond
)

// source is where events come from: fsnotify, except in tests.
type source interface {
	Add(folder string) error
	Remove(folder string) error
	Close() error
}

// Watcher watches a folder and all folders below it. It is not safe for concurrent use.
type Watcher struct {
	// Modes makes Next return also after a file that counts only changed its mode or its times, for example became
	// executable. It does not report the path, because nothing was written.
	Modes bool

	root    string
	counts  func(path string) bool
	folders map[string]bool // the watched folders, by absolute path
	outside map[string]bool // the folders of Also
	changed map[string]bool // changes that are not yet reported

	source source
	events <-chan fsnotify.Event
	errors <-chan error
}

// Open starts to watch root, an absolute path. It reports the files for which counts
// returns true; the function may change its result between calls of Next. Paths are
// relative to root and have slashes. If the system cannot watch more folders, the error
// has a hint for the user.
func Open(root string, counts func(path string) bool) (*Watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, explain(err)
	}
	w := &Watcher{root: filepath.Clean(root), counts: counts, source: n, events: n.Events, errors: n.Errors}
	if err := w.start(); err != nil {
		_ = n.Close()
		return nil, err
	}
	return w, nil
}

func (w *Watcher) start() error {
	w.folders, w.outside, w.changed = map[string]bool{}, map[string]bool{}, map[string]bool{}
	return w.add(w.root, func(string) {})
}

// Close stops the watch.
func (w *Watcher) Close() error { return w.source.Close() }

// Folders returns the number of watched folders.
func (w *Watcher) Folders() int { return len(w.folders) + len(w.outside) }

// Also watches folders outside root, by absolute path, instead of the folders of the last
// call, and without the folders below them. It ignores folders that cannot be watched.
func (w *Watcher) Also(folders []string) error {
	for name := range w.outside {
		if !slices.Contains(folders, name) {
			delete(w.outside, name)
			_ = w.source.Remove(name)
		}
	}
	for _, name := range folders {
		if w.outside[name] {
			continue
		}
		err := w.source.Add(name)
		switch {
		case err == nil:
			w.outside[name] = true
		case isLimit(err):
			return explain(err)
		}
	}
	return nil
}

// Next waits for changes, and then until there are no more for a moment. It returns
// sorted paths: files that were created, written or removed since the last call, folders
// that were removed (with a trailing slash), and [Everything]. It returns [ErrGone] if
// root no longer exists, or the cause of ctx. After an error, the next call reports the
// changes that are known by then.
func (w *Watcher) Next(ctx context.Context) ([]string, error) {
	var paused, due <-chan time.Time
	again, mode := len(w.changed) > 0, false
	note := func(path string) { again, w.changed[path] = true, true }
	for {
		if again {
			paused, again = time.After(quiet), false
		}
		if due == nil && (mode || len(w.changed) > 0) {
			due = time.After(longest)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-paused:
			return w.report(), nil
		case <-due:
			return w.report(), nil
		case e := <-w.events:
			if name, below := w.rel(e.Name); w.Modes && e.Op == fsnotify.Chmod {
				if below && w.counts(name) {
					again, mode = true, true
				}
				continue
			}
			if err := w.handle(e, note); err != nil {
				return nil, err
			}
		case err := <-w.errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil, explain(err)
			}
			note(Everything)
			if err := w.add(w.root, note); err != nil {
				return nil, err
			}
		}
	}
}

// report returns what changed. It omits paths below a removed folder.
func (w *Watcher) report() []string {
	var paths []string
	for name := range w.changed {
		within := w.changed[name+"/"]
		for above := path.Dir(strings.TrimSuffix(name, "/")); above != "." && !within; above = path.Dir(above) {
			within = w.changed[above+"/"]
		}
		if !within {
			paths = append(paths, name)
		}
	}
	clear(w.changed)
	slices.Sort(paths)
	return paths
}

// handle records what an event changes.
func (w *Watcher) handle(e fsnotify.Event, note func(path string)) error {
	name, below := w.rel(e.Name)
	if !below && !w.outside[e.Name] && !w.outside[filepath.Dir(e.Name)] {
		return nil
	}
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	switch {
	case gone && name == ".":
		return ErrGone
	case gone && (w.folders[e.Name] || w.outside[e.Name]):
		w.forget(e.Name)
		note(name + "/")
	case below && e.Has(fsnotify.Create) && isFolder(e.Name):
		return w.add(e.Name, note)
	case (gone || e.Has(fsnotify.Create) || e.Has(fsnotify.Write)) && w.counts(name):
		note(name)
	}
	return nil
}

// add watches a folder and the folders below it, and records their files. It watches each
// folder before it reads it, so that it misses no new file. It ignores folders that do not
// exist any more or that cannot be read.
func (w *Watcher) add(folder string, note func(path string)) error {
	return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		rel, below := w.rel(name)
		switch {
		case err != nil || !below:
			return nil
		case !d.IsDir():
			if w.counts(rel) {
				note(rel)
			}
			return nil
		case skipped(rel):
			return filepath.SkipDir
		}
		err = w.source.Add(name)
		switch {
		case err == nil:
			w.folders[name] = true
		case name == w.root || isLimit(err):
			return explain(err)
		default:
			return filepath.SkipDir
		}
		return nil
	})
}

// forget stops the watch of a removed folder, and of the folders that were below it.
func (w *Watcher) forget(folder string) {
	if w.outside[folder] {
		delete(w.outside, folder)
		_ = w.source.Remove(folder)
	}
	for name := range w.folders {
		if name == folder || strings.HasPrefix(name, folder+string(filepath.Separator)) {
			delete(w.folders, name)
			_ = w.source.Remove(name) // the system may have done so already
		}
	}
}

// rel returns a path as Next reports it. below is false if it is not below root.
func (w *Watcher) rel(name string) (rel string, below bool) {
	rel, err := filepath.Rel(w.root, name)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}
