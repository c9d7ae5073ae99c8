// Package watch tells which files below a folder change. It knows what in a Go
// project is worth a look, follows folders as they come and go, and makes one
// answer of the many events of a save or a checkout. What a change means, and
// what follows from it, is the caller's.
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

// Everything is the path that stands for all files: the system lost events.
const Everything = "."

// ErrGone means that the watched folder itself was removed or renamed.
var ErrGone = errors.New("the watched folder is gone")

const (
	// quiet is how long nothing may happen for changes to be one: an editor
	// writes, renames and sets modes within it.
	quiet = 50 * time.Millisecond
	// longest is the time after which changes are told although more come.
	longest = 500 * time.Millisecond
)

// source is where events come from: the system, through fsnotify.
type source interface {
	Add(folder string) error
	Remove(folder string) error
	Close() error
}

// Watcher watches a folder and those below it. It is for one goroutine.
type Watcher struct {
	// Modes has Next return also for files that only changed their mode, such as one
	// that became executable: without their paths, for nothing was written.
	Modes bool

	root    string
	counts  func(path string) bool
	folders map[string]bool // watched, by absolute path
	outside map[string]bool // those of Also
	changed map[string]bool // and not yet told

	source source
	events <-chan fsnotify.Event
	errors <-chan error
}

// Open watches root, an absolute path, from now on. Of files it tells those for
// which counts returns true; that may change its mind between calls of Next. Paths
// are relative to root and have slashes. Where the system watches no more folders,
// the error has a hint for the user.
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

// Close ends the watch.
func (w *Watcher) Close() error { return w.source.Close() }

// Folders returns how many folders are watched.
func (w *Watcher) Folders() int { return len(w.folders) + len(w.outside) }

// Also watches folders that are not below the root, given by absolute path, in
// place of those of the last call: each by itself, without what is below it. One
// that is not to be watched is passed over.
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
		switch err := w.source.Add(name); {
		case err == nil:
			w.outside[name] = true
		case isLimit(err):
			return explain(err)
		}
	}
	return nil
}

// Next waits for changes, and then until they pause. It returns the paths, sorted,
// of files that were made, written or removed since the last call, of folders that
// were removed (they end in a slash), and [Everything]. It ends with [ErrGone] or
// with ctx's cause; what it knows by then, the next call tells.
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
			return w.tell(), nil
		case <-due:
			return w.tell(), nil
		case e := <-w.events:
			if w.Modes && e.Op == fsnotify.Chmod {
				again, mode = true, true
				continue
			}
			if err := w.take(e, note); err != nil {
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

// tell returns what changed: of a folder that was removed, not what was below it.
func (w *Watcher) tell() []string {
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

// take notes what one event changes.
func (w *Watcher) take(e fsnotify.Event, note func(path string)) error {
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

// add watches a folder and those below it, and notes the files in it. Each folder
// is watched before it is read, so that no file comes unseen. What is gone again,
// or not to be read, is passed over.
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
		switch err := w.source.Add(name); {
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

// forget ends the watch of a folder that is gone, and of those that were below it.
func (w *Watcher) forget(folder string) {
	if w.outside[folder] {
		delete(w.outside, folder)
		_ = w.source.Remove(folder)
	}
	for name := range w.folders {
		if name == folder || strings.HasPrefix(name, folder+string(filepath.Separator)) {
			delete(w.folders, name)
			_ = w.source.Remove(name) // where the system has not done that
		}
	}
}

// rel is a path as it is told.
func (w *Watcher) rel(name string) (rel string, below bool) {
	rel, err := filepath.Rel(w.root, name)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}
