// Package overlay provides the files of a project as they will be after a plan is
// applied: to Go code, and to the go command with its flag -overlay.
package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Project has the files of a project as they will be after the plan is applied: the
// files on the disk, with the changes of the plan.
type Project struct {
	Dir  string // absolute project root
	Plan *scaffold.Plan
	// Changed is the planned content by absolute path. A nil content means that the plan
	// removes the file.
	Changed map[string][]byte
	// Workspace is the go.work of the go command; "" if there is none or if it is not known yet.
	Workspace string
	temp      string // a temporary folder for the go command, or "" before its first use
}

// New returns the files of the project in dir, an absolute path, with the changes of the
// plan.
func New(dir string, p *scaffold.Plan) (*Project, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("project root %q is not absolute", dir)
	}
	s := &Project{Dir: filepath.Clean(dir), Plan: p, Changed: map[string][]byte{}}
	for _, c := range p.Changes() {
		name := filepath.Join(s.Dir, filepath.FromSlash(c.Path))
		switch c.Op {
		case scaffold.Keep: // the file on the disk stays unchanged
		case scaffold.Delete:
			s.Changed[name] = nil
		default:
			content, err := p.Read(c.Path)
			if err != nil {
				return nil, fault.In("read "+c.Path, err)
			}
			s.Changed[name] = append([]byte{}, content...) // never nil, even when empty
		}
		if c.Op == scaffold.Move {
			s.Changed[filepath.Join(s.Dir, filepath.FromSlash(c.From))] = nil
		}
	}
	return s, nil
}

// BuildFlags returns the flag -overlay, which makes go list read the planned files.
// Unlike packages.Config.Overlay, it can also hide files. The planned files are in a
// temporary folder until Close.
func (s *Project) BuildFlags() ([]string, error) {
	if len(s.Changed) == 0 {
		return nil, nil
	}
	dir, err := s.TempDir()
	if err != nil {
		return nil, err
	}
	replace := make(map[string]string, len(s.Changed))
	for name, content := range s.Changed {
		if content == nil {
			replace[name] = ""
			continue
		}
		// The go command treats some files by their base names.
		tmp := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(name)))
		if err := os.WriteFile(tmp, content, 0o600); err != nil {
			return nil, err
		}
		replace[name] = tmp
	}
	index, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	return []string{"-overlay=" + file}, os.WriteFile(file, index, 0o600)
}

// TempDir returns a temporary folder that exists until Close.
func (s *Project) TempDir() (string, error) {
	if s.temp != "" {
		return s.temp, nil
	}
	var err error
	if s.temp, err = os.MkdirTemp("", "operon-plan-"); err != nil {
		return "", fault.Failed("set TMPDIR to a folder that you can write to", "cannot create a folder for temporary files: %v", err)
	}
	return s.temp, nil
}

// Close removes the temporary folder.
func (s *Project) Close() {
	if s.temp != "" {
		_ = os.RemoveAll(s.temp) // a leftover temporary folder does no harm
	}
}

// Read returns the content of a file, by its absolute path.
func (s *Project) Read(name string) ([]byte, error) {
	if content, ok := s.Changed[name]; ok {
		if content == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}
	return input.ReadFile(name, input.Text)
}

// HasDir reports whether the absolute path is a folder, on the disk or in the plan.
func (s *Project) HasDir(name string) bool {
	if info, err := os.Stat(name); err == nil {
		return info.IsDir()
	}
	return s.plansDir(name)
}

// plansDir reports whether the plan writes a file below the absolute path.
func (s *Project) plansDir(name string) bool {
	for file, content := range s.Changed {
		if content != nil && strings.HasPrefix(file, name+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// Open returns the content of a file, by its path from the root or its absolute path.
func (s *Project) Open(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	return s.Read(name)
}

// CheckReadable returns a usage error if a header file cannot be read. what is the
// argument that names the file.
func (s *Project) CheckReadable(what, name string) error {
	_, err := s.Open(name)
	if err == nil {
		return nil
	}
	reason := err.Error()
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		reason = pathErr.Err.Error() // without the path, which is part of what
	}
	if errors.Is(err, fs.ErrNotExist) {
		reason = "no such file" // the same text on all systems
	}
	return fault.Usage("specify a file by its path from the project root", "%s: %s", what, reason)
}

// OpenForRead implements genall.InputRule for header files. It converts CRLF to LF, so
// that outputs do not depend on how the file was checked out.
func (s *Project) OpenForRead(name string) (io.ReadCloser, error) {
	content, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))), nil
}

// Rel returns an absolute path below the root in the form of paths in the plan, and any
// other path unchanged.
func (s *Project) Rel(name string) string {
	if !filepath.IsAbs(name) {
		return filepath.ToSlash(name)
	}
	if r, ok := Rel(s.Dir, name); ok {
		return r
	}
	return name
}

// Shorten makes paths in a message relative to the root.
func (s *Project) Shorten(msg string) string {
	return relativeTo(s.Dir, string(filepath.Separator), msg)
}

// relativeTo makes the paths below root in a message relative to it, with slashes on all
// systems. A path ends before a position (x.go:3:1), a quote, a bracket or the end of
// the line.
func relativeTo(root, separator, msg string) string {
	parts := strings.Split(msg, root+separator)
	for i, part := range parts[1:] {
		end := strings.IndexAny(part, ":;,\"'`()[]\r\n")
		if end < 0 {
			end = len(part)
		}
		parts[i+1] = strings.ReplaceAll(part[:end], separator, "/") + part[end:]
	}
	return strings.Join(parts, "")
}

// Rel converts a path from an argument to the form of paths in the plan: relative to
// dir, with slashes. ok is false for a path outside dir.
func Rel(dir, name string) (rel string, ok bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") || path.IsAbs(rel) {
		return "", false
	}
	return rel, true
}

// Join returns name as an absolute path; a relative name starts from dir.
func Join(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
