package gen

import (
	"bytes"
	"encoding/json"
	"errors"
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
	temp    string // a folder for files of other programs, or ""
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
		if c.Op == scaffold.Move {
			s.changed[filepath.Join(s.dir, filepath.FromSlash(c.From))] = nil
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
	dir, err := s.tempDir()
	if err != nil {
		return nil, err
	}
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

// tempDir returns a folder that is there until close.
func (s *sources) tempDir() (string, error) {
	if s.temp != "" {
		return s.temp, nil
	}
	var err error
	s.temp, err = os.MkdirTemp("", "operon-plan-")
	return s.temp, err
}

func (s *sources) close() {
	if s.temp != "" {
		_ = os.RemoveAll(s.temp) // a leftover in the temporary folder harms nobody
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

// open returns the content of a header file, by a path from the root or an
// absolute one.
func (s *sources) open(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.dir, name)
	}
	return s.read(name)
}

// readable makes a usage error of a header file that cannot be read; what names
// it as the user did.
func (s *sources) readable(what, name string) error {
	_, err := s.open(name)
	if err == nil {
		return nil
	}
	reason := err.Error()
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		reason = pathErr.Err.Error() // less the path, which stands in what
	}
	if errors.Is(err, fs.ErrNotExist) {
		reason = "no such file" // on every system
	}
	return fault.Usage("name a file by its path from the project root", "%s: %s", what, reason)
}

// OpenForRead implements genall.InputRule for header files. Line ends become
// LF, so that a checkout with CRLF generates the same bytes.
func (s *sources) OpenForRead(name string) (io.ReadCloser, error) {
	content, err := s.open(name)
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
	return relativeTo(s.dir, string(filepath.Separator), msg)
}

// relativeTo makes the paths below root in a message relative to it, with
// slashes whatever the system's separator is. A path ends where a place
// (x.go:3:1), a quote, a bracket or the line does.
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
