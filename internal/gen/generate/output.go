package generate

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Output is a generated file, or text for stdout if the path is empty.
type Output struct {
	Generator string
	Path      string // slash-separated, relative to the root
	Package   string // import path of the package that the file is part of; "" for configuration
	Content   []byte
}

// memory collects the outputs of controller-tools' output rules. If a path is written
// more than once, the last content counts, as on a disk.
type memory struct {
	dir         string
	files       []*memoryFile
	byPath      map[string]int
	overwritten bool  // a path was written more than once
	err         error // the error for the first path outside the project
}

type memoryFile struct {
	bytes.Buffer
	Output
}

// Close implements io.Closer.
func (*memoryFile) Close() error { return nil }

func newMemory(dir string) *memory { return &memory{dir: dir, byPath: map[string]int{}} }

// rule returns the output rule of a generator, redirected to memory.
func (m *memory) rule(g request.Generator) genall.OutputRule { return memoryRule{m, g} }

func (m *memory) open(generator, path string) *memoryFile {
	f := &memoryFile{Output: Output{Generator: generator, Path: path}}
	m.keep(f)
	return f
}

func (m *memory) keep(f *memoryFile) {
	if i, ok := m.byPath[f.Path]; ok && f.Path != "" {
		m.files[i], m.overwritten = f, true
		return
	}
	m.byPath[f.Path] = len(m.files)
	m.files = append(m.files, f)
}

// add adds what a later generator wrote.
func (m *memory) add(later *memory) {
	for _, f := range later.files {
		m.keep(f)
	}
	m.overwritten = m.overwritten || later.overwritten
	if m.err == nil {
		m.err = later.err
	}
}

func (m *memory) finish() []Output {
	res := make([]Output, len(m.files))
	for i, f := range m.files {
		res[i] = f.Output
		res[i].Content = f.Bytes()
	}
	return res
}

type memoryRule struct {
	*memory
	request.Generator
}

// Open implements genall.OutputRule. The output is code of pkg, or configuration if pkg
// is nil.
func (r memoryRule) Open(pkg *loader.Package, item string) (io.WriteCloser, error) {
	var folder string
	switch rule := r.Rule.(type) {
	case genall.OutputToDirectory:
		folder = string(rule)
	case genall.OutputArtifacts:
		switch {
		case pkg == nil:
			folder = string(rule.Config)
		case rule.Code != "":
			folder = string(rule.Code)
		case len(pkg.CompiledGoFiles) == 0:
			return nil, fmt.Errorf("cannot output to a package with no path on disk")
		default:
			folder = filepath.Dir(pkg.CompiledGoFiles[0])
		}
	default:
		switch rule {
		case genall.OutputToNothing:
			return &memoryFile{}, nil
		case genall.OutputToStdout:
			return r.open(r.Name, ""), nil
		}
		return nil, fmt.Errorf("unexpected output rule %T", rule)
	}
	name := filepath.Join(filepath.FromSlash(folder), item)
	rel, ok := overlay.Rel(r.dir, name)
	if !ok {
		err := r.outside(pkg, name)
		if r.err == nil {
			r.err = err
		}
		return nil, err
	}
	f := r.open(r.Name, rel)
	if pkg != nil {
		f.Package = pkg.PkgPath
	}
	return f, nil
}

// outside returns the error for an output outside the project. The cause is either the
// name, as in rbac:fileName=../../x, or the package. The code of a package goes next to
// its first compiled file. If all its files import "C", that is a file in Go's build
// cache, where nothing compiles the code.
func (r memoryRule) outside(pkg *loader.Package, name string) error {
	if pkg != nil && len(pkg.GoFiles) > 0 && filepath.Dir(pkg.GoFiles[0]) != filepath.Dir(name) {
		if file, ok := overlay.Rel(r.dir, pkg.GoFiles[0]); ok {
			return fault.Failed(`move the types to a file that does not import "C"`,
				`%s: all files of package %s import "C", so controller-gen would write its code into Go's build cache`, file, pkg.PkgPath)
		}
	}
	return request.OutsideError(r.Name, name)
}
