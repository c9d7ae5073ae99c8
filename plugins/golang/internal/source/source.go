// Package source reads and edits the Go files of a project as a plan has them.
package source

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/scaffold"
)

// source is a Go file.
type File struct {
	Name   string
	Src    []byte
	Parsed *goedit.File
}

// reader reads the Go files of a plan that nobody changes meanwhile: each once. Nor
// may anybody edit them.
type Reader struct {
	plan     *scaffold.Plan
	parsed   map[string]File // by name; without a file where it does not parse
	declared map[string]map[string]bool
}

func NewReader(p *scaffold.Plan) *Reader {
	return &Reader{p, map[string]File{}, map[string]map[string]bool{}}
}

// sources reads the Go files in dir as they will be, those of tests when asked
// for. What is wrong with a file that does not parse, the generators tell.
func Files(dir string, tests bool, p *scaffold.Plan) ([]File, error) {
	return NewReader(p).Files(dir, tests)
}

func (r *Reader) Files(dir string, tests bool) ([]File, error) {
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
		s, err := r.File(name)
		if err != nil {
			return nil, err
		}
		if s.Parsed != nil {
			all = append(all, s)
		}
	}
	return all, nil
}

func (r *Reader) File(name string) (File, error) {
	if s, ok := r.parsed[name]; ok {
		return s, nil
	}
	src, err := r.plan.Read(name)
	if err != nil {
		return File{}, err
	}
	s := File{Name: name, Src: src}
	s.Parsed, _ = goedit.Parse(name, src) // nil with an error
	r.parsed[name] = s
	return s, nil
}

// declares reports whether a file in dir that is no test declares the name on
// package level.
func (r *Reader) Declares(dir, name string) (bool, error) {
	if r.declared[dir] == nil {
		all, err := r.Files(dir, false)
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

func IsTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// sourceWhere returns the first Go file in dir that is no test and passes ok, or "".
func Find(dir string, p *scaffold.Plan, ok func(*goedit.File) bool) (string, error) {
	all, err := Files(dir, false, p)
	for _, s := range all {
		if ok(s.Parsed) {
			return s.Name, nil
		}
	}
	return "", err
}

// declaredIn returns the file of the package in dir that declares name and is no
// test, or "".
func Declaring(dir, name string, p *scaffold.Plan) (string, error) {
	return Find(dir, p, func(f *goedit.File) bool { return f.Declares()[name] > 0 })
}
