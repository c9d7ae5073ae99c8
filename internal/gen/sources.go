package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
)

// sources answers for the project's files as they will be when the plan is
// applied: the disk, less what the plan removes, with what it writes.
type sources struct {
	dir  string // absolute project root
	plan *scaffold.Plan
	// changed holds the planned content by absolute path; nil means removed.
	changed map[string][]byte
	overlay string // the folder of the overlay file for go list, or ""
}

func newSources(dir string, p *scaffold.Plan) (*sources, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("project root %q is not absolute", dir)
	}
	s := &sources{dir: filepath.Clean(dir), plan: p, changed: map[string][]byte{}}
	for _, c := range p.Changes() {
		name := filepath.Join(s.dir, filepath.FromSlash(c.Path))
		switch c.Op {
		case scaffold.Keep: // the disk stays
		case scaffold.Delete:
			s.changed[name] = nil
		default:
			content, err := p.Read(c.Path)
			if err != nil {
				return nil, fault.In("read "+c.Path, err)
			}
			s.changed[name] = append([]byte{}, content...) // never nil, even when empty
		}
	}
	return s, nil
}

// buildFlags returns the flag that lets go list see the plan: -overlay, which
// can also hide files, where packages.Config.Overlay can only add them. The
// planned files lie in a temporary folder until close.
func (s *sources) buildFlags() ([]string, error) {
	if len(s.changed) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "operon-plan-")
	if err != nil {
		return nil, err
	}
	s.overlay = dir
	replace := make(map[string]string, len(s.changed))
	for name, content := range s.changed {
		if content == nil {
			replace[name] = ""
			continue
		}
		// The base name is kept, for the go command judges some files by it.
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

func (s *sources) close() {
	if s.overlay != "" {
		_ = os.RemoveAll(s.overlay) // a leftover in the temporary folder harms nobody
	}
}

// read returns a file by its absolute path, as the plan leaves it.
func (s *sources) read(name string) ([]byte, error) {
	if content, ok := s.changed[name]; ok {
		if content == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return content, nil
	}
	return os.ReadFile(name)
}

// hasDir reports whether the absolute path is a folder, on disk or in the plan.
func (s *sources) hasDir(name string) bool {
	if info, err := os.Stat(name); err == nil {
		return info.IsDir()
	}
	return s.plansDir(name)
}

// plansDir reports whether the plan writes a file below the absolute path.
func (s *sources) plansDir(name string) bool {
	for file, content := range s.changed {
		if content != nil && strings.HasPrefix(file, name+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// OpenForRead implements genall.InputRule for header files. Line ends become
// LF, so that a checkout with CRLF generates the same bytes.
func (s *sources) OpenForRead(name string) (io.ReadCloser, error) {
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(s.dir, name)
	}
	content, err := s.read(full)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))), nil
}

// rel returns an absolute path below the root as the plan writes it, and any
// other path unchanged.
func (s *sources) rel(name string) string {
	if !filepath.IsAbs(name) {
		return filepath.ToSlash(name)
	}
	if r, ok := inProject(s.dir, name); ok {
		return r
	}
	return name
}

// shorten makes paths in a message relative to the root.
func (s *sources) shorten(msg string) string {
	return strings.ReplaceAll(msg, s.dir+string(filepath.Separator), "")
}
