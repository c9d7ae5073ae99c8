package golang

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/scaffold"
)

// source is a Go file.
type source struct {
	name string
	src  []byte
	file *goedit.File
}

// reader reads the Go files of a plan that nobody changes meanwhile: each once. Nor
// may anybody edit them.
type reader struct {
	plan     *scaffold.Plan
	parsed   map[string]source // by name; without a file where it does not parse
	declared map[string]map[string]bool
}

func newReader(p *scaffold.Plan) *reader {
	return &reader{p, map[string]source{}, map[string]map[string]bool{}}
}

// sources reads the Go files in dir as they will be, those of tests when asked
// for. What is wrong with a file that does not parse, the generators tell.
func sources(dir string, tests bool, p *scaffold.Plan) ([]source, error) {
	return newReader(p).sources(dir, tests)
}

func (r *reader) sources(dir string, tests bool) ([]source, error) {
	names, err := r.plan.Files(dir)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, base := range names {
		name := path.Join(dir, base)
		if !strings.HasSuffix(name, ".go") || isTest(name) && !tests {
			continue
		}
		s, err := r.source(name)
		if err != nil {
			return nil, err
		}
		if s.file != nil {
			all = append(all, s)
		}
	}
	return all, nil
}

func (r *reader) source(name string) (source, error) {
	if s, ok := r.parsed[name]; ok {
		return s, nil
	}
	src, err := r.plan.Read(name)
	if err != nil {
		return source{}, err
	}
	s := source{name: name, src: src}
	s.file, _ = goedit.Parse(name, src) // nil with an error
	r.parsed[name] = s
	return s, nil
}

// declares reports whether a file in dir that is no test declares the name on
// package level.
func (r *reader) declares(dir, name string) (bool, error) {
	if r.declared[dir] == nil {
		all, err := r.sources(dir, false)
		if err != nil {
			return false, err
		}
		names := map[string]bool{}
		for _, s := range all {
			for declared := range s.file.Declares() {
				names[declared] = true
			}
		}
		r.declared[dir] = names
	}
	return r.declared[dir][name], nil
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// sourceWhere returns the first Go file in dir that is no test and passes ok, or "".
func sourceWhere(dir string, p *scaffold.Plan, ok func(*goedit.File) bool) (string, error) {
	all, err := sources(dir, false, p)
	for _, s := range all {
		if ok(s.file) {
			return s.name, nil
		}
	}
	return "", err
}

// declaredIn returns the file of the package in dir that declares name and is no
// test, or "".
func declaredIn(dir, name string, p *scaffold.Plan) (string, error) {
	return sourceWhere(dir, p, func(f *goedit.File) bool { return f.Declares()[name] > 0 })
}
