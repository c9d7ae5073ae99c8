package hooktest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
)

// Rewrite is a change of a test file that updates its expectations.
type Rewrite struct {
	Updated
	File   *File
	Before []byte // the content of the file

	path string // absolute
}

// PlanUpdate returns the changes that update the expectations in test files with the actual
// results. It writes nothing.
func PlanUpdate(workDir string, files []*File, outcomes []Outcome) ([]Rewrite, error) {
	var all []Rewrite
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
		if !bytes.Equal(before, u.Text) {
			all = append(all, Rewrite{u, f, before, path})
		}
	}
	return all, nil
}

// Apply writes the changes. It returns the changes that it wrote, also together with an
// error. It writes none if the new content of one of the files cannot be stored.
func Apply(all []Rewrite) (written []Rewrite, err error) {
	type staged struct{ from, to string }
	var files []staged
	defer func() {
		for _, f := range files {
			_ = os.Remove(f.from) // fails for renamed files, which is fine
		}
	}()
	for _, r := range all {
		from, to, err := r.stage()
		files = append(files, staged{from, to})
		if err != nil {
			return nil, r.writeError(err)
		}
	}
	for i, f := range files {
		if err := os.Rename(f.from, f.to); err != nil {
			return written, all[i].writeError(err)
		}
		written = append(written, all[i])
	}
	return written, nil
}

// writeError returns the error for a test file that cannot be written. It does not contain the
// name of the temporary file.
func (r Rewrite) writeError(err error) error {
	return fault.Failed("check the permissions and the free space of its folder", "%s cannot be updated: %v", r.File.Path, fault.Reason(err))
}

// stage writes the new content to a temporary file beside the target, with the same mode.
// A full disk then leaves no partly written file. stage resolves symbolic links.
func (r Rewrite) stage() (from, to string, err error) {
	if to, err = filepath.EvalSymlinks(r.path); err != nil {
		return "", "", err
	}
	info, err := os.Stat(to)
	if err != nil {
		return "", "", err
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".operon-*")
	if err != nil {
		return "", "", err
	}
	_, err = f.Write(r.Text)
	return f.Name(), to, errors.Join(err, f.Chmod(info.Mode()), f.Close())
}
