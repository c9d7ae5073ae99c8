package scaffold

import (
	"errors"
	"io/fs"
	"path"
	"slices"
)

// rollback restores the files and folders of an unfinished journal and discards
// it. It only renames and removes, so it works on a full disk. It can be
// interrupted at any point and repeated, because each step checks the current
// state. After an error in one step it still undoes the others.
func (t *tree) rollback(dir string, doc *journalDoc) error {
	var errs []error
	kept := false
	for i, s := range slices.Backward(doc.Steps) {
		k, err := t.undo(dir, i, s)
		if err != nil {
			errs = append(errs, fileError("restore", s.Path, err))
		}
		kept = kept || k
	}
	for _, d := range slices.Backward(doc.Dirs) {
		if _, err := t.removeEmpty(d); err != nil {
			errs = append(errs, fileError("remove", d, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	pending := path.Join(dir, pendingFile)
	if kept {
		if err := t.fsys.Rename(pending, path.Join(dir, revertedFile)); err != nil {
			return fileError("close", pending, err)
		}
		return nil
	}
	if err := ignoreMissing(t.fsys.Remove(pending)); err != nil {
		return fileError("remove", pending, err)
	}
	return t.discard(dir)
}

// undo reverts one step. kept reports that the file was changed since the step
// and stays unchanged.
func (t *tree) undo(dir string, i int, s step) (kept bool, err error) {
	undone, err := t.missing(numbered(dir, stagedDir, i))
	if err != nil || !undone && s.Op != Delete {
		return false, err // the new content was never put in place
	}
	before := numbered(dir, beforeDir, i)
	restored, err := t.missing(before)
	if err != nil || restored && s.Op != Create {
		return false, err
	}
	info, err := t.lstat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if s.Op == Create {
			return false, nil
		}
		return false, t.fsys.Rename(before, s.Path)
	}
	if err != nil {
		return false, err
	}
	now, err := t.hashOf(s.Path, info)
	switch {
	case err != nil:
		return false, err
	case s.Op == Create && (now == s.After || now == hash(nil)):
		return false, t.fsys.Remove(s.Path) // after a power failure a new file may be empty
	case s.Op == Update && now == s.After:
		return false, t.fsys.Rename(before, s.Path)
	}
	return now != s.Before, nil
}

// isLink and isOther replace the hash of files that are not regular.
const (
	isLink  = "link"
	isOther = "other"
)

// hashOf returns the SHA-256 of the file that lstat found at name.
func (t *tree) hashOf(name string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return isLink, nil
	case !info.Mode().IsRegular():
		return isOther, nil
	}
	b, err := t.read(name, info)
	return hash(b), err
}

// discard removes a journal that has nothing to restore.
func (t *tree) discard(dir string) error {
	if err := t.fsys.RemoveAll(dir); err != nil {
		return fileError("remove", dir, err)
	}
	return nil
}

// removeEmpty removes a folder if it exists and is empty. It lists the folder
// first, because an in-memory file system would also remove a full one.
func (t *tree) removeEmpty(dir string) (bool, error) {
	info, err := t.lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	entries, err := t.readDir(dir)
	if err != nil || len(entries) > 0 {
		return false, err
	}
	delete(t.dirs, dir)
	return true, t.fsys.Remove(dir)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
