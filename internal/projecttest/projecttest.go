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
)

// Settle returns a copy of a project in a folder that follows from its content, in the
// user's cache folder below operon-dev/projects, and a folder beside it for what is
// built. Files keep their times from run to run. The copy is for reading: who writes
// into it spoils it for the next one, and it is made anew then.
func Settle(dir string) (project, bin string, err error) {
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
	place := filepath.Join(all, key(filepath.Base(dir), want))
	project, bin = filepath.Join(place, filepath.Base(dir)), filepath.Join(place, "bin")
	if have, err := read(project); err != nil || !maps.Equal(want, have) {
		if err := replace(place, filepath.Base(dir), want); err != nil {
			return "", "", err
		}
	}
	now := time.Now()
	prune(all, now)
	return project, bin, errors.Join(os.Chtimes(place, now, now), os.MkdirAll(bin, 0o755))
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

func key(name string, files map[string]file) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", name)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %t %q\n", name, files[name].executable, files[name].content)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// replace makes a place as a whole. Who makes the same one at the same moment may be
// first: then it is there.
func replace(place, name string, files map[string]file) error {
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(place), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	for rel, f := range files {
		if err := write(filepath.Join(made, name, rel), f); err != nil {
			return err
		}
	}
	if err := age(made); err != nil {
		return err
	}
	if err := os.Rename(made, place); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
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

// prune removes what nobody used for days, and all but the places used last: with what
// was built, one takes fifty MB.
func prune(all string, now time.Time) {
	const (
		days = 5 * 24 * time.Hour
		most = 40
	)
	used := map[string]time.Time{}
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			used[e.Name()] = info.ModTime()
		}
	}
	names := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return used[b].Compare(used[a]) })
	for i, name := range names {
		if i >= most || now.Sub(used[name]) > days {
			_ = os.RemoveAll(filepath.Join(all, name))
		}
	}
}
