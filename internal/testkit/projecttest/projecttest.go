// Package projecttest gives the projects that tests make a place where the go command
// knows them again. It takes a file that a test reads by name, size and time, so that in
// a new folder every suite is linked and run anew, though nothing of it has changed.
package projecttest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Settle returns a copy of a project in a folder that follows from its content, in the
// user's cache folder below operon-dev/projects, and a folder beside it for what is
// built. more is what results follow from beside the content, and the go command does not
// see. Files keep their times from run to run. The copy is for reading: who writes
// into it spoils it for the next one, and it is made anew then.
func Settle(dir string, more ...string) (project, bin string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil { // then nothing lasts, and all is done anew
		if cache, err = os.MkdirTemp("", "projects-"); err != nil {
			return "", "", err
		}
	}
	want, err := read(dir)
	if err != nil {
		return "", "", err
	}
	all := filepath.Join(cache, "operon-dev", "projects")
	unlock, err := lock(all)
	if err != nil {
		return "", "", err
	}
	defer unlock()
	place := filepath.Join(all, key(filepath.Base(dir), want, more))
	project, bin = filepath.Join(place, filepath.Base(dir)), filepath.Join(place, "bin")
	if have, err := read(project); err != nil || !maps.Equal(want, have) {
		if err := replace(place, filepath.Base(dir), want); err != nil {
			return "", "", err
		}
	}
	now := time.Now()
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.Chtimes(place, now, now)); err != nil {
		return "", "", err
	}
	prune(all, now, most)
	return project, bin, nil
}

// lock makes the folder of all places, and keeps others from it until unlock: who settles
// the same project meanwhile finds it whole.
func lock(all string) (unlock func(), err error) {
	if err := os.MkdirAll(all, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(all + ".lock")
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return func() { _ = l.Close() }, nil
}

// file is what of a file the go command and the tests see.
type file struct {
	content    string
	executable bool
}

// read returns the files below dir, without those that were built and the journal.
func read(dir string) (map[string]file, error) {
	files := map[string]file{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "bin" || rel == filepath.Join(".operon", "journal") {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		files[rel] = file{string(content), info.Mode()&0o111 != 0}
		return err
	})
	return files, err
}

func key(name string, files map[string]file, more []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", name, more)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %t %q\n", name, files[name].executable, files[name].content)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// replace makes a place as a whole.
func replace(place, name string, files map[string]file) error {
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	for rel, f := range files {
		if err := write(filepath.Join(place, name, rel), f); err != nil {
			return err
		}
	}
	return age(place)
}

func write(name string, f file) error {
	mode := fs.FileMode(0o644)
	if f.executable {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(f.content), mode)
}

// age makes files and folders older than what the go command takes for new: of those it
// keeps no results.
func age(dir string) error {
	then := time.Now().Add(-time.Minute)
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, then, then)
	})
}

// What is kept: what nobody used for days goes, and what is used least when all take
// more than so many bytes. With what is built, a place takes fifty MB, and those of all
// tests half of the most. Who used one lately may have it in use.
const (
	days   = 3 * 24 * time.Hour
	most   = 1 << 30
	lately = 30 * time.Minute
)

// prune removes the places that are not kept.
func prune(all string, now time.Time, most int64) {
	type place struct {
		name string
		used time.Time
	}
	var places []place
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			places = append(places, place{filepath.Join(all, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return b.used.Compare(a.used) })
	var total int64
	for _, p := range places {
		total += size(p.name)
		if idle := now.Sub(p.used); idle > days || total > most && idle > lately {
			_ = os.RemoveAll(p.name)
		}
	}
}

// size is how many bytes the files below a folder have.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
