package hooktest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
)

// Rewritten is a test file with updated expectations.
type Rewritten struct {
	Updated
	File *File

	target, staged string // path of the file, and of its new content before the rename
}

// UpdateFiles updates the expectations in test files with the actual results. It returns
// the files that it changed, also together with an error. It changes no file if one of
// them cannot be updated.
func UpdateFiles(workDir string, files []*File, outcomes []Outcome) (changed []*Rewritten, err error) {
	var all []*Rewritten
	defer func() {
		for _, r := range all {
			_ = os.Remove(r.staged) // fails if the file was renamed, which is fine
		}
	}()
	for _, f := range files {
		path := hookproject.Abs(workDir, f.Path)
		before, err := os.ReadFile(path)
		if err != nil {
			return nil, fault.Failed("", "%v", err)
		}
		u, err := f.Update(before, outcomes)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(before, u.Text) {
			continue
		}
		r := &Rewritten{File: f, Updated: u}
		all = append(all, r)
		if err := r.stage(path); err != nil {
			return nil, fault.Failed("", "%v", err)
		}
	}
	for _, r := range all {
		if err := os.Rename(r.staged, r.target); err != nil {
			return changed, fault.Failed("", "%v", err)
		}
		changed = append(changed, r)
	}
	return changed, nil
}

// stage writes the new content to a temporary file beside the target, with the same mode.
// A full disk then leaves no partly written file. stage resolves symbolic links.
func (r *Rewritten) stage(path string) (err error) {
	if r.target, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	info, err := os.Stat(r.target)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(r.target), ".operon-*")
	if err != nil {
		return err
	}
	r.staged = f.Name()
	_, err = f.Write(r.Text)
	return errors.Join(err, f.Chmod(info.Mode()), f.Close())
}
