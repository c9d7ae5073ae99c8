// Package source reads and edits the Go files of a project through a plan.
package source

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// File is a Go file. Parsed is nil if the file has a syntax error.
type File struct {
	Name   string
	Src    []byte
	Parsed *goedit.File
}

// Reader reads each Go file of a plan once. Neither the plan nor the parsed files may change
// while it is in use.
type Reader struct {
	plan     *scaffold.Plan
	parsed   map[string]File // by name
	declared map[string]map[string]bool
}

// NewReader returns a Reader of the files of p.
func NewReader(p *scaffold.Plan) *Reader {
	return &Reader{p, map[string]File{}, map[string]map[string]bool{}}
}

// Files reads the Go files in dir from the plan, except for tests. It skips files that do not
// parse; the generators report them.
func Files(dir string, p *scaffold.Plan) ([]File, error) { return NewReader(p).Files(dir) }

// FilesAndTests reads the Go files in dir as Files does, including tests.
func FilesAndTests(dir string, p *scaffold.Plan) ([]File, error) {
	return NewReader(p).filesAndTests(dir)
}

// Containing reads the Go files in dir that contain one of words, including tests. It parses no
// other files, because commands look for a few names in packages with hundreds of files.
func Containing(dir string, words []string, p *scaffold.Plan) ([]File, error) {
	contains := func(src []byte) bool {
		return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(src, []byte(word)) })
	}
	return NewReader(p).matching(dir, true, contains)
}

// Files reads the Go files in dir, except for tests. It skips files that do not parse; the
// generators report them.
func (r *Reader) Files(dir string) ([]File, error) {
	return r.matching(dir, false, func([]byte) bool { return true })
}

func (r *Reader) filesAndTests(dir string) ([]File, error) {
	return r.matching(dir, true, func([]byte) bool { return true })
}

func (r *Reader) matching(dir string, tests bool, match func(src []byte) bool) ([]File, error) {
	names, err := r.plan.Files(dir)
	if err != nil {
		return nil, err
	}
	var all []File
	for _, base := range names {
		name := path.Join(dir, base)
		if !strings.HasSuffix(name, ".go") || IsTest(name) && !tests {
			continue
		}
		s, err := r.file(name, match)
		if err != nil {
			return nil, err
		}
		if s.Parsed != nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// File reads the Go file name.
func (r *Reader) File(name string) (File, error) {
	return r.file(name, func([]byte) bool { return true })
}

// AnyInModule reports whether a Go file of the module that contains a text, in any folder, has a property. Tests, and
// files that do not parse, have none.
func (r *Reader) AnyInModule(text string, has func(*goedit.File) bool) (bool, error) {
	names, err := ModuleFiles(r.plan)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if IsTest(name) {
			continue
		}
		s, err := r.file(name, func(src []byte) bool { return bytes.Contains(src, []byte(text)) })
		if err != nil {
			return false, err
		}
		if s.Parsed != nil && has(s.Parsed) {
			return true, nil
		}
	}
	return false, nil
}

// file reads a Go file, and parses it if it matches.
func (r *Reader) file(name string, match func(src []byte) bool) (File, error) {
	if s, ok := r.parsed[name]; ok {
		return s, nil
	}
	src, err := r.plan.Read(name)
	if err != nil || !match(src) {
		return File{}, err
	}
	s := File{Name: name, Src: src}
	s.Parsed, _ = goedit.Parse(name, src) // nil with an error
	r.parsed[name] = s
	return s, nil
}

// Declares reports whether a non-test file in dir declares name at package level.
func (r *Reader) Declares(dir, name string) (bool, error) {
	if r.declared[dir] == nil {
		all, err := r.Files(dir)
		if err != nil {
			return false, err
		}
		names := map[string]bool{}
		for _, s := range all {
			for declared := range s.Parsed.Declares() {
				names[declared] = true
			}
		}
		r.declared[dir] = names
	}
	return r.declared[dir][name], nil
}

// IsTest reports whether name is the name of a Go test file.
func IsTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// Declaring returns the non-test file in dir that declares name, or "". A method has the name
// "Type.Method".
func Declaring(dir, name string, p *scaffold.Plan) (string, error) {
	typeName, _, method := strings.Cut(name, ".")
	all, err := Containing(dir, []string{typeName}, p)
	for _, s := range all {
		if !IsTest(s.Name) && (method && s.Parsed.HasFunc(name) || s.Parsed.Declares()[name] > 0) {
			return s.Name, nil
		}
	}
	return "", err
}

// PackageIn returns the name of the package in a folder, or otherwise if it has no Go files.
func PackageIn(dir, otherwise string, p *scaffold.Plan) (string, error) {
	files, err := FilesAndTests(dir, p)
	if err != nil {
		return "", err
	}
	for _, s := range files {
		name := s.Parsed.Package()
		if IsTest(s.Name) {
			name = strings.TrimSuffix(name, "_test")
		}
		if name != "main" {
			return name, nil
		}
	}
	return otherwise, nil
}

// RecordedProject returns PROJECT as it was before this command. It is empty in a new project.
func RecordedProject(p *scaffold.Plan) (*project.Config, error) {
	src, err := p.Read(project.File)
	if errors.Is(err, fs.ErrNotExist) {
		return &project.Config{}, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := project.Parse(src)
	return c, fault.In(project.File, err)
}

// IsReplay reports whether the command plans the whole project again, and not only new parts.
func IsReplay(p *scaffold.Plan) bool { return p.Seeded(project.DefaultMainFile) }
