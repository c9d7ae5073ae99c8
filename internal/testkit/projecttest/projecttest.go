// Package projecttest builds and tests scaffolded projects, in folders where the go command
// can use its cache. The go command identifies a file that a test reads by name, size and
// time: in a new folder it would link and run every suite again, although nothing changed.
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

// StableCopy copies a project to a folder whose name is a hash of its content, below
// operon-dev/projects in the user's cache folder, without the files that no test reads. It returns
// the copy, and a folder beside it for binaries. more lists further inputs, which the go command does not see.
// Files keep their times from run to run. Callers must not write to
// the copy; if one did, the next call replaces it.
func StableCopy(dir string, more ...string) (project, bin string, err error) {
	return stableCopy(dir, testedFiles, more...)
}

// stableCopy is StableCopy for the files that selected returns.
func stableCopy(dir string, selected func(map[string]file) map[string]file, more ...string) (project, bin string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil { // without it, nothing is kept
		if cache, err = os.MkdirTemp("", "projects-"); err != nil {
			return "", "", err
		}
	}
	want, err := read(dir)
	if err != nil {
		return "", "", err
	}
	want = selected(want)
	root := filepath.Join(cache, "operon-dev", "projects")
	unlock, err := lock(root)
	if err != nil {
		return "", "", err
	}
	defer unlock()
	place := filepath.Join(root, key(filepath.Base(dir), want, more))
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
	prune(root, now, maxBytes)
	return project, bin, nil
}

// lock creates a folder and locks it until unlock is called, so that no process sees
// incomplete files in it.
func lock(root string) (unlock func(), err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(root + ".lock")
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return func() { _ = l.Close() }, nil
}

// file is the part of a file that the go command and tests see.
type file struct {
	content    string
	executable bool
}

// read returns the files below dir, by slash-separated path, without binaries and without operon's journal.
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
		files[filepath.ToSlash(rel)] = file{string(content), info.Mode()&0o111 != 0}
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

// replace replaces the copy of a project.
func replace(place, name string, files map[string]file) error {
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	for rel, f := range files {
		if err := write(filepath.Join(place, name, rel), f); err != nil {
			return err
		}
	}
	return backdate(place)
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

// backdate makes files and folders a minute old. The go command does not cache results of tests
// that read files of the last two seconds.
func backdate(dir string) error {
	then := time.Now().Add(-time.Minute)
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, then, then)
	})
}

// Copies that were not used for maxIdle are removed. If all copies take more than maxBytes,
// the least recently used ones are removed, except copies that may be in use. A copy with
// its binaries takes 50 MB; the copies of all tests together take a third of maxBytes.
const (
	maxIdle  = 3 * 24 * time.Hour
	maxBytes = 3 << 30
	inUse    = 30 * time.Minute // since the last use
)

// prune removes old copies.
func prune(root string, now time.Time, maxBytes int64) {
	type place struct {
		name string
		used time.Time
	}
	var places []place
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			places = append(places, place{filepath.Join(root, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return b.used.Compare(a.used) })
	var total int64
	for _, p := range places {
		total += size(p.name)
		if idle := now.Sub(p.used); idle > maxIdle || total > maxBytes && idle > inUse {
			_ = os.RemoveAll(p.name)
		}
	}
}

// size returns the number of bytes in the files below a folder.
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
